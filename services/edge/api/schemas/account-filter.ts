import { Type } from "typebox";
import { MAX_PLATFORM_TEXT_LENGTH } from "#kernel/platform-text.ts";
import { MAX_NAME_LENGTH } from "../../fields/checks.ts";
import { text } from "../../fields/field.ts";
import { at } from "../../fields/message.ts";
import { externalIdFilter } from "./labels.ts";
import { fromField, toField } from "./period.ts";
import { loginField } from "./request-fields.ts";

/** Of a list of accounts. */
export const accountFilter = {
  mt5_login: Type.Optional(at("login", loginField("Only the account with this login.", "investor"))),
  name: Type.Optional(
    text("name", {
      description: "Only accounts with this name, in any case.",
      example: "Ada",
      shown: { minLength: 1, maxLength: MAX_NAME_LENGTH },
    }),
  ),
  email: Type.Optional(
    text("email", {
      description: "Only accounts whose holder has this e-mail address, in any case.",
      example: "ada@example.com",
      shown: { format: "email", maxLength: MAX_PLATFORM_TEXT_LENGTH },
    }),
  ),
  external_id: externalIdFilter,
  created_from: Type.Optional(fromField("that were created or registered")),
  created_to: Type.Optional(toField("that were created or registered")),
};
