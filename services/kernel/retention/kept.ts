/** Tables of the kernel that no rule names, and why they may be kept. */
export const KEPT: Readonly<Record<string, string>> = {
  feed_cursor: "one row for each feed that the service reads",
  feed_head: "one row for each feed of the service",
  feed_poison: "one row for each entry that cannot be decoded; its feed stops there",
  lease: "one row for each role",
  reconciliation_check: "one row for each check",
  retention_rule: "one row for each rule",
  state_change: "moved into a feed by its reader, the edge",
  review_case:
    "one row for each case that operators decide; checks need the decisions about deals as long as the log has the deals",
  review_event: "the votes of operators",
};
