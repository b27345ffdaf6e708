// The socket. Enters: messages to send. Leaves: parsed messages and frames through `Handlers`, and what is wrong with the connection.
// A server that says nothing for three seconds (it speaks many times a second) is silent: what the page shows is old, and it says so.
// A lost connection is tried again after 0.5, 1, 2, 4, then every 5 seconds. A server that answers 403 no longer knows this page:
// it was restarted, and only the link it printed helps, so the page says that (and still tries, seldom).

import { decode_frame, type Frame } from "./frames";
import { parse_message, type ClientMessage, type ServerMessage } from "./protocol";

export type ConnectionState = "connecting" | "open" | "silent" | "lost" | "refused";

export interface Handlers {
  on_state(state: ConnectionState, retry_ms: number): void;
  on_message(message: ServerMessage): void;
  on_frame(frame: Frame): void;
}

const longest_pause_ms = 5000;
const answer_within_ms = 3000;
const silent_after_ms = 3000;
const look_every_ms = 500;

// The key came behind # with the link that was opened. It stays in this browser's memory for this origin, port and all, where no server on
// another port of this machine reads it; cookies know no ports.
const key_name = "tactus key";
let key = "";

export function take_key(): void {
  const found = /^#key=([0-9a-f]{32})$/.exec(location.hash)?.[1];
  try {
    if (found !== undefined) localStorage.setItem(key_name, found);
    key = found ?? localStorage.getItem(key_name) ?? "";
  } catch {
    key = found ?? ""; // a browser that keeps nothing: until the next reload
  }
  if (found !== undefined) history.replaceState(null, "", location.pathname);
}

// A page without a key was never let in: somebody cleared what the browser knew, or never opened the link here.
const was_let_in = (): boolean => key !== "";
const socket_path = (): string => `/socket?key=${key}`;

export class Connection {
  private socket_: WebSocket | null = null;
  private failures_ = 0;
  private timer_: number | undefined;
  private heard_ms_ = 0;
  private is_silent_ = false;

  constructor(private readonly handlers_: Handlers) {
    window.setInterval(() => this.look(), look_every_ms);
  }

  open(): void {
    window.clearTimeout(this.timer_);
    this.socket_?.close();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}${socket_path()}`);
    socket.binaryType = "arraybuffer";
    this.socket_ = socket;
    socket.addEventListener("open", () => {
      if (socket !== this.socket_) return;
      this.failures_ = 0;
      this.heard_ms_ = performance.now();
      this.is_silent_ = false;
      this.handlers_.on_state("open", 0);
      this.send({ type: "hello", version: 1 });
    });
    socket.addEventListener("message", (event: MessageEvent<string | ArrayBuffer>) => {
      if (socket !== this.socket_) return;
      this.hear();
      if (typeof event.data === "string") {
        const message = parse_message(event.data);
        if (message !== null) this.handlers_.on_message(message);
      } else {
        const frame = decode_frame(event.data);
        if (frame !== null) this.handlers_.on_frame(frame);
      }
    });
    socket.addEventListener("close", () => {
      if (socket !== this.socket_) return;
      this.socket_ = null;
      void this.try_again();
    });
  }

  private hear(): void {
    this.heard_ms_ = performance.now();
    if (!this.is_silent_) return;
    this.is_silent_ = false;
    this.handlers_.on_state("open", 0);
  }

  private look(): void {
    if (!this.is_open || this.is_silent_ || performance.now() - this.heard_ms_ < silent_after_ms) return;
    this.is_silent_ = true;
    this.handlers_.on_state("silent", 0);
  }

  get is_open(): boolean {
    return this.socket_?.readyState === WebSocket.OPEN;
  }

  // False when there is nobody to send to. In silence only texts and a hand's leave go out: nothing else may happen later, unasked.
  send(message: ClientMessage): boolean {
    if (!this.is_open) return false;
    if (this.is_silent_ && message.type !== "edit" && message.type !== "leave") return false;
    this.socket_?.send(JSON.stringify(message));
    return true;
  }

  private async try_again(): Promise<void> {
    let pause_ms = Math.min(500 * 2 ** this.failures_, longest_pause_ms);
    this.failures_ += 1;
    this.handlers_.on_state("lost", pause_ms);
    if (await this.is_refused()) {
      pause_ms = longest_pause_ms;
      this.handlers_.on_state("refused", pause_ms);
    }
    this.timer_ = window.setTimeout(() => this.open(), pause_ms);
  }

  // A browser does not tell why a socket was refused; the page itself is asked for, and its status tells.
  private async is_refused(): Promise<boolean> {
    if (!was_let_in()) return true;
    try {
      const answer = await fetch("/", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(answer_within_ms) });
      return answer.status === 403;
    } catch {
      return false;
    }
  }
}
