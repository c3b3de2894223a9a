/** The text of a table's cell; its unit is in the head. */
export interface CellWords {
  text: string
  /** The figure's calculation, shown before it. */
  before?: string
  /** More detail, as a tooltip. */
  more?: string | undefined
  /** Whether the value is unknown. */
  none?: true
}

/** All that there is to say about a column of the offers table. */
export interface ListedColumn<Listed extends { offer: object }> {
  title: string
  /** An explanation of the title, where it needs one. */
  about?: string
  /** The unit in a row that shows one value alone; absent where such a row has the value anyway. */
  unit?: string
  /** Pixels; the GPU's is its minimum, since it takes the room that the others leave. */
  width: number
  /** When a narrow table drops it: the lowest first. The GPU and the price stay. */
  dropped?: number
  /** Texts are aligned left, figures right. */
  isText?: true
  /** Drawn in the second colour. */
  isMinor?: true
  /** What it's sorted by, where that isn't the field's `value`; undefined if unknown. */
  order?(listed: Listed): number | string | undefined
  /** Whether the first click on its header sorts in descending order. */
  moreIsBetter?: true
  /** The text of the field's `value`, and more detail. */
  words?(value: number): string
  more?(offer: Listed['offer']): string | undefined
  /** The cell, where it shows more than the words of one value. */
  cell?(listed: Listed): CellWords
}

/** A line of an offer's details. */
interface Fact<Offer> {
  group: 'gpu' | 'machine' | 'price'
  name: string
  /** @param now epoch seconds of the account's time */
  words(offer: Offer, now: number): string | undefined
}

interface NamedFilter {
  /** On the chip. */
  readonly name: string
  /** Its key in a filter, and so in saved searches. */
  readonly key: string
  /** The service's field. */
  readonly field: string
  /** Only some deployments have the field. */
  readonly uncommon?: true
}

/** A filter for a minimum of the field's `value`, which is in the unit of the service's field. */
export interface MinimumFilter extends NamedFilter {
  readonly kind: 'least'
  /** Converts the filter's unit to that of the service's field, where they differ. */
  readonly inField?: (value: number) => number
  /** The filter's key of a maximum, where exactly one value can be asked for, and its conversion to the service's field. */
  readonly exact?: { readonly key: 'memoryTo'; readonly inField: (value: number) => number }
  /** On the chip, and in the form unless `formUnit` is set. */
  readonly unit?: string
  readonly formUnit?: string
  /** The factor for display: 100 for a share in percent. */
  readonly scale?: number
  /** The most fraction digits for display; 0 by default. */
  readonly digits?: number
  /** Common choices, as displayed. */
  readonly usual: readonly number[]
  /** The highest possible value, as displayed. */
  readonly most?: number
  readonly whole?: true
  /** For a sentence, from the displayed figure: `at least 80 GB per GPU`. */
  readonly requirement: (figure: string) => string
  /** An offer's own value where no column has words for it: `4.1 Gb/s`. */
  readonly words?: (value: number) => string
}

/** A filter for a property. */
export interface PropertyFilter<Offer> extends NamedFilter {
  readonly kind: 'only'
  readonly is: (offer: Offer) => boolean | undefined
  /** For a sentence: `a static IP address`. */
  readonly requirement: string
  /** Its meaning, a sentence. */
  readonly about: string
}

/** A field of an offer, wherever it's shown. All parts are functions of the plain record: none is made for a row. */
export interface Field<Listed extends { offer: object }> {
  /** The figure of its column and its filter; undefined if unknown. */
  value?(listed: Listed): number | undefined
  column?: ListedColumn<Listed>
  fact?: Fact<Listed['offer']>
  filter?: MinimumFilter | PropertyFilter<Listed['offer']>
  /** The words by which free-text search finds it. */
  search?(offer: Listed['offer']): string | number | undefined
  /** Its column in `berth search`; the title of a figure begins with `>`. */
  cli?: { title: string; words(offer: Listed['offer']): string }
}
