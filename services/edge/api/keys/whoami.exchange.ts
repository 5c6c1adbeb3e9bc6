import type { Exchanges } from "../exchange.ts";
import { SCOPES } from "../../wire/scopes.ts";

export const exchanges: Exchanges = {
  getApiKey: [
    {
      name: "all_scopes",
      summary: "A key with every scope",
      request: {},
      services: {},
      asked: [],
      answer: {
        client: "tests",
        key_id: "KeyOfTests01",
        scopes: [...SCOPES],
        environment: "test",
        expires_at: null,
        has_allow_list: false,
      },
    },
  ],
};
