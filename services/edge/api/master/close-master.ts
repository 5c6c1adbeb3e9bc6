import { Type } from "typebox";
import { at } from "../../fields/message.ts";
import { masterId } from "../schemas/request-fields.ts";
import { MasterItem } from "../schemas/master.ts";
import { route } from "../../http/route.ts";

export const closeMaster = route({
  operationId: "closeMaster",
  method: "POST",
  url: "/api/v1/master/:master_id/close",
  scope: "masters:close",
  class: "money",
  tag: "Masters",
  summary: "Close a Master",
  description:
    "For good: no Investor can be assigned from now on, every Investor leaves as by an unassign, and then the Master is archived. The answer comes when this has begun; `GET /master/{master_id}/profile` shows how far it is. Closing again has the same answer. By internal id, not by login.",
  returns: "The Master as the closing has begun.",
  params: Type.Object({ master_id: at("id", masterId) }),
  reply: MasterItem,
  lookUp:
    "Read GET /api/v1/master/{master_id}/profile, or repeat it with the same Idempotency-Key or without one: a Master is closed once.",
  refusals: ["master_not_found", "master_open_positions", "safety_stop", "platform_unavailable"],
  call: ({ accounts }, request, context) => accounts.closeMaster(request, context),
});
