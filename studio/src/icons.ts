// The page's few pictures, as SVG made in the document (the content policy allows no other source).

const paths = {
  play: "M5 3.2v9.6l8-4.8z",
  pause: "M4.5 3h2.6v10H4.5zM8.9 3h2.6v10H8.9z",
  step: "M3.5 3.2v9.6l6.5-4.8zM11 3h2v10h-2z",
  reset: "M8 3a5 5 0 1 1-4.6 3l1.4.6A3.5 3.5 0 1 0 8 4.5V7L4.3 3.8 8 .8z",
  fit: "M2 2h4v1.5H3.5V6H2zM10 2h4v4h-1.5V3.5H10zM2 10h1.5v2.5H6V14H2zM12.5 10H14v4h-4v-1.5h2.5z",
  sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM7.3 1h1.4v2H7.3zM7.3 13h1.4v2H7.3zM1 7.3h2v1.4H1zM13 7.3h2v1.4h-2zM3.5 2.6l1.4 1.4-1 1L2.5 3.6zM12.1 11.1l1.4 1.4-1 1-1.4-1.4zM12.5 2.5l1 1-1.4 1.4-1-1zM3.9 11l1 1-1.4 1.5-1-1z",
  moon: "M6.2 2A6 6 0 1 0 14 9.8 5 5 0 0 1 6.2 2z",
  plus: "M7.2 3h1.6v4.2H13v1.6H8.8V13H7.2V8.8H3V7.2h4.2z",
  close: "M4 3l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
  text: "M2 3h12v1.5H2zM2 7.2h8v1.5H2zM2 11.5h10V13H2z",
  plot: "M2 2h1.5v10.5H14V14H2zM5 10.5l2.4-4 2.2 2L13 4l1 .9-4.2 6-2.2-2L6.2 11.3z",
  sliders: "M2 4h6.2v1.5H2zM11.4 4H14v1.5h-2.6zM9 2.8h1.6v4H9zM2 10.5h2.6V12H2zM7.8 10.5H14V12H7.8zM5.4 9.2H7v4H5.4z",
  warning: "M8 1.5 15 14H1zM7.3 6v4h1.4V6zM7.3 11.2v1.4h1.4v-1.4z",
} as const;

export type IconName = keyof typeof paths;

export function make_icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

// Fills every <button data-icon="..."> of the page.
export function place_icons(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLElement>("[data-icon]")) {
    const name = button.dataset["icon"] as IconName;
    button.prepend(make_icon(name));
  }
}

export function swap_icon(button: HTMLElement, name: IconName): void {
  button.querySelector("svg")?.replaceWith(make_icon(name));
}
