/** Gathers what is written piece by piece: the answer begins only once it is whole, so errors stay errors. */
export async function written(
  work: (write: (text: string) => Promise<void>) => Promise<unknown>,
): Promise<string> {
  const pieces: string[] = [];
  await work(async (text) => {
    pieces.push(text);
  });
  return pieces.join('');
}
