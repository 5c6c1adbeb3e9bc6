/** Limits of values that several services check: the edge with the other fields of a request, the service for every caller. */

/** The comment column of usual CRM systems; the comment on the trading platform contains as much of it as fits. */
export const MAX_COMMENT_LENGTH = 255;
/** The reason of a review decision: some sentences. */
export const MAX_NOTE_LENGTH = 1_000;
/** Reviews of one vote: each is decided in a transaction of its own, within the time of one request. */
export const MAX_VOTED_REVIEWS = 100;
/** The highest leverage that the trading platform offers. The operator may set a lower limit, also for a group. */
export const MAX_LEVERAGE = 5_000;
/** More transfers than the fees, or the exit, of one operation ever are. */
export const MAX_TRANSFER_KEYS = 20;
