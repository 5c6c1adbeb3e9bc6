import { formatAmount, isNegative, isZero } from "../formats/decimal.ts";

type Props = {
  /** Decimal text of the API. */
  readonly amount: string | null | undefined;
  /** Emphasis for an amount that should be zero. */
  readonly isAlarming?: boolean;
};

export function Money({ amount, isAlarming = false }: Props) {
  if (amount === null || amount === undefined) return <span class="none">–</span>;
  const kind = isZero(amount) ? "zero" : isAlarming ? "alarming" : isNegative(amount) ? "negative" : "positive";
  return <span class={`money ${kind}`}>{formatAmount(amount)}</span>;
}
