export type RunFolders = { readonly memory: string; readonly disk: string };
export type LeftProcess = { readonly pid: number; readonly name: string };
export function makeRunFolders(): RunFolders;
export function processesOf(folders: readonly string[], parent?: number): LeftProcess[];
export function listeningHere(known?: ReadonlySet<string>): string[];
export function socketsHere(): Set<string>;
export const FOLDERS_OF_FILES: string;
export function list(folder: string): string[];
export function sweep(folders: readonly string[]): {
  readonly processes: readonly LeftProcess[];
  readonly names: readonly string[];
};
export function endWithNpm(end: () => void): void;
