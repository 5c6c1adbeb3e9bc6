import type { Exchanges } from "../exchange.ts";
import { aListedKey } from "../samples/edge.ts";
import { AT, LATER } from "../samples/values.ts";
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
            state: "active",
            scopes: ["masters:read", "ops"],
            environment: "test",
            has_allow_list: false,
            rejects_duplicates: false,
            replaces: "KeyOfAnna001",
            replaced_by: null,
            created_at: "2026-02-03T04:05:06.789000",
            expires_at: null,
            revoked_at: null,
            last_used_at: "2026-02-03T04:05:06.789000",
          },
          {
            key_id: "KeyOfAnna001",
            client: "anna",
            client_id: "KeyOfAnna001",
            state: "revoked",
            scopes: ["masters:read", "ops"],
            environment: "test",
            has_allow_list: false,
            rejects_duplicates: false,
            replaces: null,
            replaced_by: "KeyOfAnna002",
            created_at: "2026-01-02T03:04:05.678000",
            expires_at: "2026-02-03T04:05:06.789000",
            revoked_at: "2026-02-03T04:05:06.789000",
            last_used_at: "2026-01-02T03:04:05.678000",
          },
        ],
        next_cursor: "KeyOfAnna001",
        has_more: true,
        has_bootstrap_key: true,
        bootstrap_used_at: null,
      },
    },
  ],
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
