import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import { type Answers, requestOf, type SentRequest } from "../../../services/edge/api/exchange.ts";
import { isCommand } from "../../../services/edge/http/route.ts";

export type Command = SentRequest & { readonly operationId: string; readonly services: Answers };

/** The first exchange of each command. */
export const COMMANDS: readonly Command[] = DOCUMENTED_ROUTES.filter(isCommand).map((route) => {
  const [exchange] = route.exchanges;
  return { ...requestOf(route, exchange), operationId: route.operationId, services: exchange.services };
});
