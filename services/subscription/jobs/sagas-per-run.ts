/**
 * Sagas of one run of a recovery job. They are settled in parallel, because a saga may wait for locks of another one, and
 * each uses a connection of the pool while it works.
 */
export const SAGAS_PER_RUN = 8;
