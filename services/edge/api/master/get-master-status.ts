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
  examples: [
    {
      name: "open",
      summary: "Open for new Investors",
      request: { params: { master_id: "7" } },
      answer: { id: 7, mt5_login: "3000001", state: "open", since: "2026-01-02T03:04:05.678000", closing: null },
    },
    {
      name: "closing",
      summary: "Being closed, and waiting for open positions",
      request: { params: { master_id: "8" } },
      answer: {
        id: 8,
        mt5_login: "3000005",
        state: "closing",
        since: "2026-01-02T03:04:05.678000",
        closing: {
          investors_left: 2,
          exits_in_progress: 1,
          last_progress_at: "2026-02-03T04:05:06.789000",
          blocked_by: "master_open_positions",
        },
      },
    },
  ],
  call: ({ accounts }, request, context) => accounts.getMasterStatus(request, context),
});
