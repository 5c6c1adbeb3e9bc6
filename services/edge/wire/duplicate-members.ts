/** A string, with what follows it if that makes it the name of a member; or one of the characters that open and close. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/gs;

type Level = { readonly names: Set<string> | undefined; readonly path: string; position: number; last: string };

/**
 * The paths of members that an object of a JSON text has more than once, each once. Readers differ in which of them counts, so a
 * caller cannot know which amount or login would be used. The text has to be valid JSON.
 */
export function duplicateMembers(json: string): string[] {
  const found = new Set<string>();
  const levels: Level[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    const level = levels.at(-1);
    if (token === "{" || token === "[") {
      const own = level === undefined ? "" : level.names === undefined ? String(level.position) : level.last;
      const path = level === undefined || level.path === "" ? own : `${level.path}.${own}`;
      levels.push({ names: token === "{" ? new Set() : undefined, path, position: 0, last: "" });
    } else if (token === "}" || token === "]") levels.pop();
    else if (level === undefined) continue;
    else if (token === ",") level.position += 1;
    else if (colon !== undefined && level.names !== undefined) {
      level.last = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string;
      if (level.names.has(level.last)) found.add(level.path === "" ? level.last : `${level.path}.${level.last}`);
      level.names.add(level.last);
    }
  }
  return [...found];
}
