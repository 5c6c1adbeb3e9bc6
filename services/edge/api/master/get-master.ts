import { Type } from "typebox";
import { at } from "../../fields/message.ts";
import { masterId } from "../schemas/request-fields.ts";
import { MasterDetails } from "../schemas/master.ts";
import { route } from "../../http/route.ts";

export const getMaster = route({
  operationId: "getMaster",
  method: "GET",
  url: "/api/v1/master/:master_id",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master",
  description: "By internal id, not by login.",
  returns: "The Master.",
  params: Type.Object({ master_id: at("id", masterId) }),
  reply: MasterDetails,
  refusals: ["master_not_found"],
  call: ({ accounts }, request, context) => accounts.getMaster(request, context),
});
