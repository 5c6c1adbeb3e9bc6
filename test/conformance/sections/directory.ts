import { expectOk, expectRefused, itemsOf, textOf } from "../expect.ts";
import { memberOf } from "../http.ts";
import { hold } from "../outcome.ts";
import type { World } from "../world.ts";

/** Both directories: `engine`, `limit` and pages that follow each other. */
export async function expectDirectory({ get }: World, role: "master" | "investor"): Promise<string> {
  const path = `/${role}/directory`;
  const wrong = ["", "?engine=PAMM&limit=0", "?engine=PAMM&limit=101", "?engine=PAMM&cursor=nonsense"];
  const refused = expectRefused(...(await Promise.all(wrong.map((query) => get(path + query)))));
  expectOk(await get(`${path}?engine=PAMM`), await get(`${path}?engine=PAMM&limit=100`));
  const first = await get(`${path}?engine=PAMM&limit=1`);
  hold(itemsOf(memberOf(first.body, "items")).length === 1, "not one item on a page of one");
  hold(memberOf(first.body, "has_more") === true, "has_more is not true before the last page");
  const cursor = encodeURIComponent(textOf(first.body, "next_cursor"));
  const next = await get(`${path}?engine=PAMM&limit=1&cursor=${cursor}`);
  const [one, two] = [first, next].map(({ body }) => textOf(itemsOf(memberOf(body, "items"))[0], "id"));
  hold(one !== two, `id ${one} on both pages`);
  return `ids ${one}, ${two}; ${refused}`;
}
