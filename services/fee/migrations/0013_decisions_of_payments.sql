-- outside a transaction
-- The withdrawal or exit that a fee was collected for is looked up by the ticket of the fee.
create index concurrently crystallisation_item_by_payment on crystallisation_item (payment_id);
