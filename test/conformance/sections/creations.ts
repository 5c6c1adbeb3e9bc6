import { textOf } from "../expect.ts";
import type { Json } from "../http.ts";
import { hold } from "../outcome.ts";
import type { World } from "../world.ts";

/** The request without each of its members. */
export function withoutEach(request: Readonly<Record<string, unknown>>): object[] {
  return Object.keys(request).map((name) => ({ ...request, [name]: undefined }));
}

export async function expectPasswords({ get }: World, path: string, created: Json | undefined): Promise<string> {
  const { body } = await get(path);
  for (const [kept, made] of [
    ["mt5_password", "password"],
    ["mt5_investor_password", "investor_password"],
  ] as const) {
    hold(textOf(body, kept) === textOf(created, made), `another ${kept}`);
  }
  return "both, equal";
}
