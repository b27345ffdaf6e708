// Files under /files/, against every spelling of a way out. Each test fails without the rule it is named for.
#include "server/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "server/limits.h"
#include "server/server_testing.h"

namespace server {
namespace {

TEST_F(ServerTest, FilesOfTheFolderAreServed) {
  start();
  const Answer answer = get("/files/ball.stl");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "a ball");
  EXPECT_EQ(answer.fields.at("Content-Type"), "model/stl");
  EXPECT_NE(answer.fields.at("Content-Security-Policy").find("sandbox"), std::string::npos);
  EXPECT_EQ(get("/files/meshes/arm%20one.stl").body, "an arm");
  EXPECT_EQ(get("/files/b%61ll.s%74l").body, "a ball");
  std::string large(3'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  put(folder_ / "large.glb", large);
  EXPECT_EQ(get("/files/large.glb").body, large);
  put(folder_ / "empty.obj", "");
  EXPECT_EQ(get("/files/empty.obj").status, 200);
}

TEST_F(ServerTest, WhatAPersonAllowedIsServedToo) {
  const fs::path parts = outside_ / "parts", one = outside_ / "one.stl";
  fs::create_directories(parts / "deep");
  put(parts / "deep" / "a.stl", "a part");
  put(one, "one file");
  put(parts / "run.js", "a script");
  server_ = std::make_unique<Server>(Options{0,
                                             assets,
                                             folder_.string(),
                                             {milliseconds(600'000), milliseconds(600'000)},
                                             {},
                                             {parts, one, "/no such place"}},
                                     recorder_);
  host_ = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_EQ(get("/files/ball.stl").body, "a ball");
  EXPECT_EQ(get("/files/%400/deep/a.stl").body, "a part");
  EXPECT_EQ(get("/files/%401/one.stl").body, "one file");
  for (const char* path :
       {"%401/secret.stl", "%400/../secret.stl", "%400/%2e%2e/secret.stl", "%400/run.js", "%402/a.stl", "%403/a.stl",
        "%40/secret.stl", "%40-1/secret.stl", "%400", "%401/", "%401/parts/deep/a.stl"})
    EXPECT_EQ(get("/files/" + std::string(path)).status, 404) << path;
}

TEST_F(ServerTest, NoSpellingLeadsOutOfTheFolder) {
  start();
  ASSERT_EQ(get("/files/ball.stl").status, 200);
  for (const std::string& path : {
           std::string("../secret.stl"),
           std::string("meshes/../../secret.stl"),
           std::string("meshes/../ball.stl"),
           std::string("./ball.stl"),
           std::string("%2e%2e/secret.stl"),
           std::string("%2E%2E/secret.stl"),
           std::string(".%2e/secret.stl"),
           std::string("..%2fsecret.stl"),
           std::string("%2e%2e%2fsecret.stl"),
           std::string("meshes%2farm%20one.stl"),
           std::string("%252e%252e/secret.stl"),
           std::string("%252e%252e%252fsecret.stl"),
           std::string("..%5csecret.stl"),
           std::string("..\\secret.stl"),
           (outside_ / "secret.stl").string(),
           "/" + (outside_ / "secret.stl").string(),
           "%2f" + (outside_ / "secret.stl").string().substr(1),
           std::string("/ball.stl"),
           std::string("meshes//arm%20one.stl"),
           std::string("ball.stl/"),
           std::string("ball.stl%00"),
           std::string("ball.stl%00.stl"),
           std::string("ball.st%6"),
           std::string("ball.st%6g"),
           std::string("ball.stl%"),
           std::string("ball%2estl%2f"),
           std::string(""),
           std::string("."),
           std::string(".."),
           std::string("meshes"),
           std::string("meshes/"),
       }) {
    const Answer answer = get("/files/" + path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.body, "not found\n") << path;
  }
  EXPECT_EQ(get("/../secret.stl").status, 404);
  EXPECT_EQ(get("/files").status, 404);
  EXPECT_EQ(get("/files/" + std::string(1000, 'x') + ".stl").status, 404);
}

TEST_F(ServerTest, LinksAreNotFollowed) {
  start();
  fs::create_symlink(outside_ / "secret.stl", folder_ / "link.stl");
  fs::create_symlink(outside_, folder_ / "out");
  fs::create_symlink("ball.stl", folder_ / "inner.stl");
  fs::create_symlink("meshes", folder_ / "inner");
  for (const char* path : {"link.stl", "out/secret.stl", "out/model/ball.stl", "inner.stl", "inner/arm%20one.stl"}) {
    EXPECT_EQ(get("/files/" + std::string(path)).status, 404) << path;
  }
}

TEST_F(ServerTest, HiddenNamesAreNotShown) {
  start();
  put(folder_ / ".hidden.stl", "hidden");
  fs::create_directory(folder_ / ".git");
  put(folder_ / ".git" / "ball.stl", "hidden");
  for (const char* path : {".hidden.stl", "%2ehidden.stl", ".git/ball.stl", "%2egit/ball.stl"}) {
    EXPECT_EQ(get("/files/" + std::string(path)).status, 404) << path;
  }
}

TEST_F(ServerTest, OnlyRegularFilesOfTheirKindsAreShown) {
  start();
  put(folder_ / "keys.txt", "secret");
  put(folder_ / "evil.html", "<script src=evil.js>");
  put(folder_ / "evil.js", "evil");
  put(folder_ / "bare", "bare");
  ASSERT_EQ(mkfifo((folder_ / "pipe.stl").c_str(), 0600), 0);
  fs::create_directory(folder_ / "directory.stl");
  for (const char* path : {"keys.txt", "evil.html", "evil.js", "bare", "pipe.stl", "directory.stl"}) {
    EXPECT_EQ(get("/files/" + std::string(path)).status, 404) << path;
  }
  put(folder_ / "LOUD.STL", "loud");
  EXPECT_EQ(get("/files/LOUD.STL").body, "loud");
}

TEST_F(ServerTest, AnOversizedFileIsNotShown) {
  start();
  put(folder_ / "huge.stl", "");
  fs::resize_file(folder_ / "huge.stl", max_file_bytes + 1);
  EXPECT_EQ(get("/files/huge.stl").status, 404);
  fs::resize_file(folder_ / "huge.stl", max_file_bytes);
  EXPECT_EQ(ask("HEAD /files/huge.stl HTTP/1.1\r\n" + host() + cookie() + "\r\n", false).status, 200);
}

TEST_F(ServerTest, WithoutAFolderThereAreNoFiles) {
  start();
  Server bare(Options{0, assets, "", {}, {}}, recorder_);
  host_ = "127.0.0.1:" + std::to_string(bare.port());
  Wire first(bare.port());
  first.write("GET " + target_of(bare.url()) + " HTTP/1.1\r\n" + host() + "\r\n");
  const std::string set = read_answer(first).fields["Set-Cookie"];
  first.write("GET /files/ball.stl HTTP/1.1\r\n" + host() + "Cookie: " + set.substr(0, set.find(';')) + "\r\n\r\n");
  EXPECT_EQ(read_answer(first).status, 404);
}

}  // namespace
}  // namespace server
