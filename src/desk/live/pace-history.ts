/**
 * Requests over time, from a counter that is looked at now and then. Between two looks the requests are
 * taken as evenly spread, so that slices have one width however often somebody looked.
 */
const KEEP_MS = 10 * 60_000;
const SLICE_MS = 5_000;

type Look = { readonly at: number; readonly count: number };

export class PaceHistory {
  private looks: Look[] = [];

  note(count: number, now: number): void {
    const last = this.looks.at(-1);
    // A counter that fell was started anew, with the store's books.
    if (last !== undefined && count < last.count) this.looks = [];
    this.looks.push({ at: now, count });
    const oldest = this.looks.findIndex(({ at }) => now - at <= KEEP_MS);
    // One look before the kept time stays, for the slice at the edge.
    if (oldest > 1) this.looks.splice(0, oldest - 1);
  }

  within(windowMs: number, now: number): number {
    return Math.round(this.countAt(now) - this.countAt(now - windowMs));
  }

  slices(now: number): { sliceMs: number; endsAt: number; requests: number[] } {
    const endsAt = Math.floor(now / SLICE_MS) * SLICE_MS;
    const first = this.looks[0]?.at ?? endsAt;
    const count = Math.min(KEEP_MS, Math.max(0, endsAt - first)) / SLICE_MS;
    const requests = Array.from({ length: Math.ceil(count) }, (_, i) => {
      const end = endsAt - (Math.ceil(count) - 1 - i) * SLICE_MS;
      return Math.round((this.countAt(end) - this.countAt(end - SLICE_MS)) * 10) / 10;
    });
    return { sliceMs: SLICE_MS, endsAt, requests };
  }

  private countAt(at: number): number {
    const after = this.looks.findIndex((look) => look.at >= at);
    const right = after < 0 ? this.looks.at(-1) : this.looks[after];
    const left = after <= 0 ? right : this.looks[after - 1];
    if (left === undefined || right === undefined) return 0;
    if (after < 0 || right.at === left.at) return right.count;
    return left.count + ((at - left.at) / (right.at - left.at)) * (right.count - left.count);
  }
}
