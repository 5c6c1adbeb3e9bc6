/** Reason of a review about a decision whose votes the edge does not confirm; the id of that decision follows in its subject. */
export const VOTES_UNCONFIRMED = "votes_unconfirmed";
/** The decision stays as it is. */
export const ACKNOWLEDGE = "acknowledge";
