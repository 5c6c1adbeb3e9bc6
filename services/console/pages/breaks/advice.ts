/** What an operator does about a break of each check, as in docs/operate/money-alerts.md. */
const ADVICE: Readonly<Record<string, string>> = {
  transfer_legs:
    "The Master is stopped. Find the cause before its review is decided; if you cannot name it, leave the Master stopped and report the break.",
  pool_ledger:
    "The Master is stopped. Find the cause before its review is decided; if you cannot name it, leave the Master stopped and report the break.",
  deal_matching:
    "A deal of this service was deleted, edited or cancelled on the platform, or has no operation. Have the platform's operator correct the account, then decide the review of the deal, then that of the stopped Master.",
  platform_balance:
    "The balance on the platform is not the sum of the deals that are known. The whole history of the account has been read: decide the reviews that it has opened. Without one, the platform's operator has to correct the balance.",
  account_currency:
    "The broker has moved the account to a group in another currency, or changed its group. The account is stopped; have it moved back. The break closes within ten minutes; then two people resume the account, and its Master when it is one.",
  external_funds_master:
    "A dealer moved money on a Master. Ask the dealer: a mistake is taken back on the platform first. Then two people acknowledge the review. Results of Investors are right meanwhile.",
  external_funds_investor:
    "A dealer moved money on an Investor in a pool. It stays outside of the pool. Ask the dealer what it was; then two people adopt it as capital, or acknowledge that it stays outside.",
  unresolved_operations:
    "The outcome of a movement is not known. Nothing has to be decided: it is searched for until it is found, at most five minutes after the platform answers again. Do not pay again.",
  mirror_lag:
    "Capital has not reached its Master, or not left it. When the Master is stopped, decide its review; otherwise the platform is slow or refuses: ask its operator.",
  unknown_accounts:
    "The platform has an account that this system created and has no complete record of: its creation does not end, or the database was restored. Have the CRM register it again, before permits are resumed; or have the platform's operator archive it.",
  trading_rights:
    "An account may trade that must not, or was not given its right back. The service changes it again by itself: when the break stays, ask the platform's operator for the manager's right to edit accounts.",
  fee_payments: "The fees of the Master are stopped. Find the cause, then decide the review; fees continue after it.",
  investor_profits:
    "What an Investor earned differs from its results. The fees of the Master are stopped. Find the cause, then decide the review.",
  undecided_fees:
    "Fees of a closed week are not decided, or not recorded. When the fees of the Master are stopped, decide the review; otherwise the service for fees does not answer.",
  fee_overdue:
    "Fees wait. When the fees of the Master are stopped, decide the review; otherwise the platform or an account is busy.",
  subscription_endings:
    "An Investor waits for its exit, which is retried without limit. When the Master is stopped, decide its review.",
  transfer_ownership:
    "A transfer that its service has not requested. The accounts are stopped. Treat it as an intrusion.",
  cashflow_completeness:
    "The answer of a deposit or withdrawal and the books differ. Open the operation, and report a defect.",
};

const VOTES =
  "A decision is in the books without the votes of two people. Ask those whom its review names. What they did not decide is an intrusion.";

export function adviceOf(check: string): string {
  if (check.startsWith("review_votes")) return VOTES;
  return ADVICE[check] ?? "Find the cause first. If you cannot name it, report the break.";
}
