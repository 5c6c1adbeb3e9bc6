import { CURRENCY, CURRENCY_DIGITS, type Group } from "../mt5/groups.ts";
import { refuse } from "../refusals.ts";

/** An amount in another currency, or with other digits, would be taken for dollars and cents. Undefined: the platform does not show the group. */
export function requireCurrency(name: string, group: Group | undefined): void {
  if (group?.isSupported === true) return;
  const shown =
    group === undefined
      ? "is not shown to the manager, so its currency is not known"
      : `is in ${group.currency} with ${group.currencyDigits} digits`;
  throw refuse(
    "currency_not_supported",
    `Group ${name} of the trading platform ${shown}. Accounts must be in ${CURRENCY} with ${CURRENCY_DIGITS} digits.`,
    {
      outcome: "not_executed",
      details: {
        group: name,
        ...(group === undefined ? {} : { currency: group.currency, digits: String(group.currencyDigits) }),
      },
    },
  );
}
