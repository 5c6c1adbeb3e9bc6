import { Type } from "typebox";
import { FeeVersionReply } from "../schemas/fee.ts";
import { model } from "../../fields/field.ts";
import { idPage } from "../schemas/page.ts";
import { investorLoginReply } from "../../fields/reply-fields.ts";
import { cursorBefore, feeVersionId, investorLogin, limit500 } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const listFeeVersions = route({
  operationId: "listFeeVersions",
  method: "GET",
  url: "/api/v1/investor/:investor_login/performance-fee/versions",
  scope: "fees:read",
  class: "read",
  tag: "Performance fees",
  summary: "List the versions of a fee configuration",
  description: "All versions, the newest first: scheduled, in force, past, replaced and cancelled ones.",
  returns: "A page of versions.",
  params: Type.Object({ investor_login: investorLogin }),
  query: Type.Object({
    limit: limit500(100),
    cursor: cursorBefore("Only versions with a lower id. Use next_cursor."),
  }),
  reply: model("FeeVersionPage", "A page of versions. Descending by id.", {
    investor_login: investorLoginReply(),
    ...idPage(FeeVersionReply),
  }),
  refusals: ["investor_not_found"],
  call: ({ fees }, request, context) => fees.listVersions(request, context),
});

export const cancelFeeVersion = route({
  operationId: "cancelFeeVersion",
  method: "DELETE",
  url: "/api/v1/investor/:investor_login/performance-fee/versions/:version_id",
  scope: "fees:write",
  class: "money",
  tag: "Performance fees",
  summary: "Cancel a scheduled fee version",
  description:
    "Only a version that has not begun; the version before it then stays in force. Returns the cancelled version.",
  returns: "The cancelled version.",
  params: Type.Object({ investor_login: investorLogin, version_id: feeVersionId }),
  reply: FeeVersionReply,
  lookUp:
    "Repeat it with the same Idempotency-Key. GET /api/v1/investor/{investor_login}/performance-fee/versions shows the state of the version.",
  refusals: ["investor_not_found", "fee_version_not_found", "fee_version_not_scheduled"],
  call: ({ fees }, request, context) => fees.cancelVersion(request, context),
});
