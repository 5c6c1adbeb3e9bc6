import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { Client } from "../../../services/kernel/contract/contract.ts";
import { peopleFake } from "../../../services/subscription/testing/people-fake.ts";

type People = Client<AccountServiceService>;

/** Who is who: what the account service would say. */
export function createPeople(
  masters: readonly string[],
  investors: readonly string[],
  paymentAccountLogin: string,
): People {
  const people = peopleFake();
  for (const login of masters) people.addMaster(login, 0n);
  for (const login of investors) people.addInvestor(login);
  const findMaster: People["findMaster"] = async (request, context) => {
    return { ...(await people.client.findMaster(request, context)), paymentAccountLogin };
  };
  return { ...people.client, findMaster };
}
