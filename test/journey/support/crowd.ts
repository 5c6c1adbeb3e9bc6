import { expect } from "vitest";
import { formatMinor } from "#kernel/values/money.ts";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { sized } from "../../support/proof.ts";
import { type Client, eventually, platformBalanceOf } from "./client.ts";
import { assign, newInvestor, newMaster, type NewMaster } from "./client-requests.ts";

/** Number of Investors that share one deal. */
export const CROWD = sized({ test: 12, proof: 400 });

export type Member = { readonly login: string; readonly capital: bigint; readonly subscriptionId: bigint };

/** Members in the order of their subscriptions, which decides between equal remainders. */
export type Crowd = NewMaster & { readonly members: readonly Member[] };

/** As many as the platform usually has sessions: more registrations would only wait. */
const AT_ONCE = 8;
/** A mirror takes about a second; a busy machine needs more time for each member. */
const MIRROR_MS = 120_000 + CROWD * 100;

/** A Master with many Investors of different capital and the same rate; all capital is mirrored. */
export async function newCrowd(client: Client, rate: number): Promise<Crowd> {
  const master = await newMaster(client);
  const waiting = Array.from({ length: CROWD }, (_, index) => 1_000_00n + BigInt(index) * 37_01n);
  const members: Member[] = [];
  const addMembers = async (): Promise<void> => {
    for (let capital = waiting.pop(); capital !== undefined; capital = waiting.pop()) {
      members.push(await addMember(client, { master: master.login, capital, rate }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, addMembers));
  members.sort((one, other) => Number(one.subscriptionId - other.subscriptionId));
  const total = members.reduce((sum, { capital }) => sum + capital, 0n);
  await eventually(async () => expect(await platformBalanceOf(client, master.login)).toBe(total), MIRROR_MS);
  return { ...master, members };
}

type NewMember = { readonly master: string; readonly capital: bigint; readonly rate: number };

async function addMember(client: Client, { master, capital, rate }: NewMember): Promise<Member> {
  const login = await newInvestor(client, formatMinor(capital));
  return await eventually(async () => {
    const { status, text } = await assign(client, master, login, rate);
    // The answer to an earlier attempt may have been lost.
    if (!text.includes("already_subscribed")) expect(status, text).toBe(200);
    const { items } = await client.get(`/api/v1/info/subscriptions?investor_login=${login}`);
    return { login, capital, subscriptionId: BigInt(textOf(items[0] ?? {}, "id")) };
  });
}
