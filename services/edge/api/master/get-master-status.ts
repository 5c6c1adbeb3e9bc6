import { Type } from "typebox";
import { at } from "../../fields/message.ts";
import { masterId } from "../schemas/request-fields.ts";
import { MasterStatusReply } from "../schemas/master-status.ts";
import { route } from "../../http/route.ts";

export const getMasterStatus = route({
  operationId: "getMasterStatus",
  method: "GET",
  url: "/api/v1/master/:master_id/status",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get where a Master is in its life",
  description: "By internal id, not by login.",
  returns: "The state of the Master.",
  params: Type.Object({ master_id: at("id", masterId) }),
  reply: MasterStatusReply,
  refusals: ["master_not_found"],
  call: ({ accounts }, request, context) => accounts.getMasterStatus(request, context),
});
