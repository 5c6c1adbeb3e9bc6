import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { OffsetMemory } from "../mt5/measured-offsets.ts";

type OffsetRow = { minutes: number; firstAt: Date; lastAt: Date };

/** The measured offsets of one server's clock, kept for all processes and across restarts. */
export function serverOffsets(db: Queryable, server: string): OffsetMemory {
  return {
    async load() {
      const rows = await many<OffsetRow>(
        db,
        sql`select minutes, first_at as "firstAt", last_at as "lastAt"
            from server_offset
            where server = ${server}
            order by first_at`,
      );
      return rows.map(({ minutes, firstAt, lastAt }) => ({
        minutes,
        firstMs: firstAt.getTime(),
        lastMs: lastAt.getTime(),
      }));
    },
    async save({ minutes, firstMs, lastMs }) {
      await execute(
        db,
        sql`insert into server_offset (server, minutes, first_at, last_at)
            values (${server}, ${minutes}, ${new Date(firstMs)}, ${new Date(lastMs)})
            on conflict (server, minutes, first_at) do update
            set last_at = greatest(server_offset.last_at, excluded.last_at)`,
      );
    },
  };
}
