import type { RowSort } from './sortRows.ts'

class Order {
  /** The column that was clicked, or undefined for newest first; kept while other screens are shown. */
  by: RowSort | undefined = $state()
}
export const order = new Order()
