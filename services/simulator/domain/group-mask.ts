/** A comma list of names with * for any characters; a part after ! excludes groups. Case matters. */
export function groupMask(text: string): (group: string) => boolean {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const included = parts.filter((part) => !part.startsWith("!")).map(patternOf);
  const excluded = parts.filter((part) => part.startsWith("!")).map((part) => patternOf(part.slice(1)));
  return (group) => included.some((matches) => matches(group)) && !excluded.some((matches) => matches(group));
}

function patternOf(mask: string): (group: string) => boolean {
  const [head = "", ...rest] = mask.split("*");
  const tail = rest.pop();
  if (tail === undefined) return (group) => group === mask;
  return (group) => {
    if (group.length < head.length + tail.length || !group.startsWith(head) || !group.endsWith(tail)) return false;
    return containsInOrder(group.slice(head.length, group.length - tail.length), rest);
  };
}

/** Greedy from the left is enough, and unlike a regular expression it cannot be made to run for ever. */
function containsInOrder(text: string, pieces: readonly string[]): boolean {
  let from = 0;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return true;
}
