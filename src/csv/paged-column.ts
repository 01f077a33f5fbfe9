const PAGE_BITS = 15;
const PAGE_ENTRIES = 1 << PAGE_BITS;
const IN_PAGE = PAGE_ENTRIES - 1;

type NumberArray = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** One number for each entry, in pages that are added as entries come: growing never copies. */
export class PagedColumn {
  readonly #pages: NumberArray[] = [];
  readonly #page: (entries: number) => NumberArray;

  constructor(page: (entries: number) => NumberArray) {
    this.#page = page;
  }

  get(entry: number): number {
    return this.#pages[entry >>> PAGE_BITS]?.[entry & IN_PAGE] ?? 0;
  }

  set(entry: number, value: number): void {
    const at = entry >>> PAGE_BITS;
    while (this.#pages.length <= at) this.#pages.push(this.#page(PAGE_ENTRIES));
    const page = this.#pages[at];
    if (page !== undefined) page[entry & IN_PAGE] = value;
  }
}

export const bytes = () => new PagedColumn((entries) => new Uint8Array(entries));
export const words16 = () => new PagedColumn((entries) => new Uint16Array(entries));
export const words32 = () => new PagedColumn((entries) => new Uint32Array(entries));
export const floats = () => new PagedColumn((entries) => new Float64Array(entries));
