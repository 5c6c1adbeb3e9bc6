-- outside a transaction
-- Reviews of all times may be decided, and few of them are about one account.
create index concurrently review_case_of_login on review_case (login, id);
