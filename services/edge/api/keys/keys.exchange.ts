import type { Exchanges } from "../exchange.ts";
import { aListedKey } from "../samples/edge.ts";
import { AT, AT_TEXT, LATER, LATER_TEXT } from "../samples/values.ts";
import { SCOPES } from "../../wire/scopes.ts";

export const exchanges: Exchanges = {
  listApiKeys: [
    {
      name: "rotated",
      summary: "A client whose key was rotated",
      request: { query: { limit: "2" } },
      services: {
        keys: {
          list: async () => ({
            keys: [
              aListedKey({ id: "KeyOfAnna002", replaces: "KeyOfAnna001", createdAt: LATER, lastUsedAt: LATER }),
              aListedKey({ replacedBy: "KeyOfAnna002", expiresAt: LATER, revokedAt: LATER, lastUsedAt: AT }),
            ],
            hasMore: true,
            system: { environment: "test", hasBootstrapKey: true, bootstrapUsedAt: null },
          }),
        },
      },
      asked: [{ method: "list", request: { limit: 2 } }],
      answer: {
        items: [
          {
            key_id: "KeyOfAnna002",
            client: "anna",
            client_id: "KeyOfAnna001",
            scopes: ["masters:read", "ops"],
            environment: "test",
            replaces: "KeyOfAnna001",
            created_at: LATER_TEXT,
            last_used_at: LATER_TEXT,
          },
          {
            key_id: "KeyOfAnna001",
            client: "anna",
            client_id: "KeyOfAnna001",
            state: "revoked",
            scopes: ["masters:read", "ops"],
            environment: "test",
            replaced_by: "KeyOfAnna002",
            expires_at: LATER_TEXT,
            revoked_at: LATER_TEXT,
            last_used_at: AT_TEXT,
          },
        ],
        next_cursor: "KeyOfAnna001",
        has_more: true,
        has_bootstrap_key: true,
      },
    },
  ],
  getApiKey: [
    {
      name: "all_scopes",
      summary: "A key with every scope",
      services: {},
      asked: [],
      answer: {
        client: "tests",
        key_id: "KeyOfTests01",
        scopes: [...SCOPES],
        environment: "test",
      },
    },
  ],
};
