/**
 * Moves the temporary folders of a test file from memory to disk. A file that tests durability (an fsync, a full disk,
 * a server killed during a write) calls it before anything else.
 */
export function onDisk(): void {
  process.env.TMPDIR = process.env.ALMONER_TEST_FILE_DISK;
}
