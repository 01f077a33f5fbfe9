/**
 * Moves the temporary folders of a test file from memory to the disk. A file that tests durability (what an fsync
 * keeps, a full disk, a server killed in the middle of a write) calls it before anything else.
 */
export function onDisk(): void {
  process.env.TMPDIR = process.env.ALMONER_TEST_FILE_DISK;
}
