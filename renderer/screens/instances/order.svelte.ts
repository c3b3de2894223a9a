import type { RowSort } from './sortRows.ts'

class Order {
  /** Newest first unless a column was clicked; kept while other screens are looked at. */
  by: RowSort | undefined = $state()
}
export const order = new Order()
