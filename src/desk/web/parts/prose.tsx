/** Sentences of the program, in which `almoner …` between backticks is something to type. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('`').map((part, at) => (at % 2 === 1 ? <code key={`${at} ${part}`}>{part}</code> : part))}
    </>
  );
}
