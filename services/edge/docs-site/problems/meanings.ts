/** The meaning of each problem code, from the table of docs/integrate.md. */
export function meaningsOf(markdown: string): ReadonlyMap<string, string> {
  const rows = markdown.matchAll(/^\| `([a-z_]+)` \| \d{3} \| (.+) \|$/gm);
  return new Map([...rows].map(([, code = "", meaning = ""]) => [code, meaning.trim()]));
}
