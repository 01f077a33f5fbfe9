/** What the pace has learnt, in the words of the log. The same stands in `status` for as long as it holds. */
export function paceNotices(words: readonly string[]): string[] {
  const notices: string[] = [];
  for (let at = 0; at < words.length; ) {
    switch (words[at]) {
      case 'limit':
        notices.push(limitNotice(Number(words[at + 1]), Number(words[at + 2]), words[at + 3] === 'h'));
        at += 4;
        break;
      case 'others':
        notices.push(othersNotice(Number(words[at + 1])));
        at += 2;
        break;
      case 'free':
        notices.push('The realm allows the configured rate again.');
        at += 1;
        break;
      case 'alone':
        notices.push('Nobody else seems to use the realm’s limit any more.');
        at += 1;
        break;
      default:
        return notices;
    }
  }
  return notices;
}

export function limitNotice(requests: number, windowMs: number, said: boolean): string {
  const rate = `${requests} requests in ${windowMs / 1000} s`;
  return said
    ? `The realm allows ${rate}, less than configured; almoner keeps to it.`
    : `The realm refused requests for the rate; almoner tries ${rate} and goes up again after a while.`;
}

export function othersNotice(requests: number): string {
  return `Something else uses this realm’s limit (about ${requests} requests a window); almoner makes room for it.`;
}
