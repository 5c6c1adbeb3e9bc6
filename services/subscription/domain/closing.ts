/** What keeps a Master from being archived, by the code of a refusal. Those of the Master come first: they hold for all of its Investors. */
const BLOCKS: ReadonlyMap<string, string> = new Map([
  ["safety_stop", "safety_stop"],
  ["master_open_positions", "master_open_positions"],
  ["platform_unavailable", "unavailable"],
  ["service_unavailable", "unavailable"],
  ["no answer", "unavailable"],
  ["investor_deficit", "investor_deficit"],
]);

/** What keeps a closing from going on, by the reasons why tries were refused; undefined when it only takes time. */
export function blockOf(reasons: readonly string[]): string | undefined {
  const code = [...BLOCKS.keys()].find((known) => reasons.includes(known));
  return code && BLOCKS.get(code);
}
