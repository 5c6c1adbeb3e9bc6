const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Words that YAML reads as something else than text. */
const NOT_TEXT = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

/** JSON as YAML in blocks. Texts are quoted as in JSON, which YAML reads alike. */
export function toYaml(value: unknown, indent = ""): string {
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `${indent}- ${toYaml(item, `${indent}  `).trimStart()}`).join("\n");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    return Object.entries(value)
      .map(
        ([name, member]) =>
          `${indent}${keyOf(name)}:${isBlock(member) ? "\n" : " "}${toYaml(member, childIndent(indent, member))}`,
      )
      .join("\n");
  }
  return JSON.stringify(value);
}

function childIndent(indent: string, value: unknown): string {
  return isBlock(value) ? `${indent}  ` : "";
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function keyOf(name: string): string {
  return PLAIN_KEY.test(name) && !NOT_TEXT.test(name) ? name : JSON.stringify(name);
}
