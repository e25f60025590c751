// SPDX-License-Identifier: Apache-2.0
#include <weir/io/output_file.hpp>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include <weir/io/compression.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

void write(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

TEST(OutputFile, appears_at_commit_and_not_before) {
  const TemporaryFolder folder;
  folder.write("out", "old");
  {
    OutputFile file(folder / "out");
    file.write("new");
    EXPECT_EQ(contents_of(folder / "out"), "old");
    EXPECT_EQ(folder.num_files(), 2u);
  }
  EXPECT_EQ(contents_of(folder / "out"), "old");
  EXPECT_EQ(folder.num_files(), 1u);
  write(folder / "out", "new");
  EXPECT_EQ(contents_of(folder / "out"), "new");
  EXPECT_EQ(folder.num_files(), 1u);
}

TEST(OutputFile, compresses_by_name) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i) + '\n';
  for (const char* name : {"out.gz", "out.zst"}) {
    write(folder / name, text);
    const std::string packed = contents_of(folder / name);
    EXPECT_LT(packed.size(), text.size() / 2);
    EXPECT_EQ(decompress(name, compression_of(packed, name), packed), text);
    write(folder / name, "");
    EXPECT_EQ(decompress(name, compression_by_name(name), contents_of(folder / name)), "");
  }
}

TEST(OutputFile, writes_devices_and_pipes_directly) {
  write("/dev/null", "gone");
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string found;
  std::thread reader([&] { found = contents_of(pipe); });
  write(pipe, "through");
  reader.join();
  EXPECT_EQ(found, "through");
  ASSERT_EQ(::stat(pipe.c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
}

TEST(OutputFile, says_that_a_device_is_full) {  // D97
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const std::string expected = "output: /dev/full: cannot write: No space left on device";
  EXPECT_EQ(error_of([] { write("/dev/full", "x"); }), expected);
  EXPECT_EQ(error_of([] { write("/dev/full", std::string(1'000'000, 'x')); }), expected);
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "full.gz");
  EXPECT_NE(error_of([&] { write(folder / "full.gz", "x"); }), "");
}

TEST(OutputFile, leaves_nothing_where_the_disk_is_full) {  // D97
  const TemporaryFolder folder;
  const std::string disk = folder / "disk";
  std::filesystem::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "may not mount a small file system";
  }
  const std::string path = disk + "/out";
  const std::string error = error_of([&] { write(path, std::string(1'000'000, 'x')); });
  const bool is_empty = std::filesystem::is_empty(disk);
  ::umount(disk.c_str());
  EXPECT_EQ(error, "output: " + path + ": cannot write: No space left on device");
  EXPECT_TRUE(is_empty);
}

TEST(OutputFile, says_that_it_cannot_be_made) {
  const TemporaryFolder folder;
  const std::string path = folder / "missing/out";
  EXPECT_EQ(error_of([&] { write(path, "x"); }),
            "output: " + path + ": cannot create: No such file or directory");
}

TEST(OutputFile, keeps_a_link_and_the_permissions) {
  const TemporaryFolder folder;
  folder.write("real", "old");
  ::chmod((folder / "real").c_str(), 0640);
  std::filesystem::create_symlink("real", folder / "link");
  write(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(contents_of(folder / "real"), "new");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(OutputFile, follows_links_to_where_nothing_is_yet) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "results");
  std::filesystem::create_symlink("results/link", folder / "link");
  std::filesystem::create_symlink("out", folder / "results/link");
  write(folder / "link", "text");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "results/link"));
  EXPECT_EQ(contents_of(folder / "results/out"), "text");
  std::filesystem::create_symlink("missing/out", folder / "astray");
  EXPECT_EQ(error_of([&] { write(folder / "astray", "x"); }),
            "output: " + (folder / "astray") + ": cannot create: No such file or directory");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "astray"));
}

TEST(OutputFile, writes_to_a_descriptor_and_leaves_it_open) {
  const TemporaryFolder folder;
  const int descriptor = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  {
    OutputFile file(descriptor, "-");
    file.write("text");
    file.commit();
  }
  EXPECT_EQ(::close(descriptor), 0);
  EXPECT_EQ(contents_of(folder / "out"), "text");
}

}  // namespace
}  // namespace weir::io::test
