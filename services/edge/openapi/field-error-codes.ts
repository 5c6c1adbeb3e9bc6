import { setOf } from "../schemas/field.ts";

/** The reasons of `errors`, from the checks of fields and from the services. */
export const FIELD_ERROR_CODES = setOf("FieldErrorCode", "Why a field is wrong. New codes may be added.", {
  required: "It is missing.",
  wrong_type: "It has another JSON type.",
  unknown_value: "It is not one of the values that it may have.",
  malformed: "It does not have the form that it must have.",
  out_of_range: "It is below the minimum or above the maximum.",
  empty: "It is empty, or has spaces only.",
  too_long: "It has too many characters.",
  too_many: "It has too many members.",
  external_id_in_use: "Another account of this role has it.",
  control_character: "It has a control character.",
  invisible_character: "It has a character that shows nothing, or that changes the order of others.",
  reserved_reference: "It begins like a reference of this service.",
  amount_precision: "It has more than two decimals.",
  rate_precision: "It has more than six decimals.",
  currency_not_supported: "It is not USD.",
  duplicate: "The query has the name, or the list the value, more than once.",
  duplicate_member: "The body has the member more than once.",
  unknown_parameter: "The route has no query parameter of this name.",
  https_required: "It must begin with https.",
  address_not_allowed: "It names an address that is not public.",
  invalid_cursor: "It is not the `next_cursor` of the same list with the same filter.",
  group_not_allowed: "The group is not on the operator's list for this role.",
  payment_account_equals_master: "It equals the trading account.",
  platform_account_not_found: "The platform has no such account.",
});
