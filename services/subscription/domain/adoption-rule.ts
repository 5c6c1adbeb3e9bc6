/** Whether deals of an action and comment on Investors are adopted without a review. */
export type AdoptionRule = (deal: { readonly action: number; readonly comment: string }) => boolean;

export const adoptsNothing: AdoptionRule = () => false;

/** Balance, charge and correction of a dealer, and the charges and dividends of the platform. Not trades, nor credit and bonus, which are no balance. */
const ACTIONS = new Set([2, 4, 5, 7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19]);

/** Names of actions and beginnings of comments, separated by commas; undefined when one is wrong. */
export function parseAdoptionRule(text: string): AdoptionRule | undefined {
  const names = text.split(",").map((name) => name.trim());
  const isNumber = (name: string) => /^\d+$/.test(name);
  const actions = new Set(names.filter(isNumber).map(Number));
  const beginnings = names.filter((name) => !isNumber(name));
  if (beginnings.includes("") || [...actions].some((action) => !ACTIONS.has(action))) return undefined;
  return ({ action, comment }) => actions.has(action) || beginnings.some((beginning) => comment.startsWith(beginning));
}
