import { refusalsOf } from "#kernel/refusal.ts";

/** Everything that fee says no with. */
export const { refuse, refusals } = refusalsOf({
  validation_failed: "invalid",
  fee_configuration_not_found: "not_found",
});
