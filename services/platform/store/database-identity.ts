import { fragment } from "#kernel/postgres/query.ts";

/** The database of this connection, as its rows name it: read once for a statement. */
export const HERE = fragment`(select database_identity())`;

/** The next number of the leg sequence; fails in a database in which the sequence was not raised. */
export const NEXT_LEG_NUMBER = fragment`next_leg_number(${HERE})`;
