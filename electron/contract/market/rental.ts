import * as v from 'valibot'
import { RentalStops } from '../automation/guard-kinds.ts'
import { OfferId } from '../ids.ts'
import type { Problem } from '../problem.ts'
import type { Micros } from '../spending/money.ts'
import type { OfferView, SavedQuery } from './offer.ts'

/** GB, where nothing says how large a disk is wanted. */
export const firstDisk = 20

const bidUpTo = (most: number, message: string) =>
  v.pipe(
    v.number('give the bid as a number of dollars per hour'),
    v.finite(),
    v.minValue(0.001, 'the lowest bid is $0.001 per hour'),
    v.maxValue(most, message),
  )

// interface 8: Bid price from 0.001 to 32.0 dollars per hour, to change a bid; a rental may begin with up to 128
/** The bid of an instance that is there, dollars per hour (section 8). */
export const BidPrice = bidUpTo(32, 'the highest bid is $32 per hour')

// interface 8: Bid price from 0.001 to 32.0 dollars per hour, to change a bid; a rental may begin with up to 128
/** The bid that a rental begins with: the interface bounds only its change, the best-known deployment this, too. */
export const FirstBid = bidUpTo(128, 'the highest bid is $128 per hour')

const text = (most: number) => v.pipe(v.string(), v.maxLength(most, `at most ${most} characters`))

const mountPath = v.pipe(
  v.string(),
  v.regex(/^\//, 'a mount path begins with /'),
  v.maxLength(1024, 'at most 1,024 characters'),
)

export const EnvName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'letters, digits and _, not beginning with a digit'),
  v.maxLength(256, 'at most 256 characters'),
)

const port = v.pipe(
  v.number('a port is a number'),
  v.integer('a port is a whole number'),
  v.minValue(1, 'ports begin at 1'),
  v.maxValue(65535, 'ports end at 65535'),
)

/** A port of the container, and the one outside where it is another. */
export const PortRequest = v.object({
  container: port,
  outside: v.optional(port),
  protocol: v.picklist(['tcp', 'udp']),
})

const oneWord = (what: string, most: number) =>
  v.pipe(
    v.string(),
    v.maxLength(most, `at most ${most} characters`),
    v.regex(/^[^\s'"]*$/, `${what} has no spaces and no quotes`),
  )

const noOption = v.regex(/^[^-]/, 'it is not empty, and does not begin with -')

/** The login to the registry of a private image. The token is a secret, and empty in what is remembered. */
export const RegistryLogin = v.object({
  server: v.pipe(oneWord('a registry', 512), noOption),
  user: v.pipe(oneWord('a user', 256), noOption),
  token: oneWord('a token', 8192),
})

export type RegistryLogin = v.InferOutput<typeof RegistryLogin>

/** How Jupyter is started: JupyterLab or the Notebook, and in which folder; empty for the image's own. */
export const JupyterRequest = v.object({
  lab: v.boolean(),
  folder: v.pipe(
    v.string(),
    v.maxLength(1024, 'at most 1,024 characters'),
    v.regex(/^(?:\/|$)/, 'a folder begins with /'),
  ),
})
export type JupyterRequest = v.InferOutput<typeof JupyterRequest>

/** A volume to link, or to create from a volume offer (section 2.4). */
export const VolumeRequest = v.variant('create', [
  v.object({
    create: v.literal(false),
    volume: v.pipe(v.number('give the volume’s id'), v.safeInteger(), v.minValue(1)),
    mountPath,
  }),
  v.object({
    create: v.literal(true),
    /** Of the volume offer. */
    volume: v.pipe(v.number('give the volume offer’s id'), v.safeInteger(), v.minValue(1)),
    /** GB. */
    size: v.pipe(
      v.number('give the size in GB'),
      v.finite(),
      v.gtValue(0, 'the volume must be larger than 0 GB'),
    ),
    mountPath,
  }),
])

const imageHint = 'an image is written like pytorch/pytorch:latest'

/** Docker image with an optional tag. */
const ImageName = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(512, 'at most 512 characters'),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._\-/:@]*$/, imageHint),
)

/** What the rent dialog asks for. */
const requestFields = v.object({
  offer: OfferId,
  /** Empty for the template's. */
  image: v.union([v.literal(''), ImageName], imageHint),
  /** How to get in. */
  access: v.picklist(['ssh', 'jupyter', 'none']),
  /**
   * Directly at ports of the machine, with the service's proxy as fallback; false for the proxy alone. Counts where the
   * deployment has runtypes for both.
   */
  direct: v.optional(v.boolean()),
  /** Counts with Jupyter as the way in. Absent leaves it to the template. */
  jupyter: v.optional(JupyterRequest),
  registry: v.optional(RegistryLogin),
  /** GB. */
  disk: v.pipe(
    v.number('give the disk in GB'),
    v.finite(),
    v.gtValue(0, 'the disk must be larger than 0 GB'),
    v.maxValue(100_000, 'at most 100,000 GB'),
  ),
  env: v.pipe(
    v.array(v.object({ name: EnvName, value: text(32_768), secret: v.boolean() })),
    v.maxLength(200, 'at most 200 variables'),
  ),
  ports: v.pipe(v.array(PortRequest), v.maxLength(64, 'at most 64 ports')),
  onstart: v.optional(text(16_384)),
  label: v.optional(text(128)),
  /** Dollars per hour: makes it interruptible. */
  bid: v.optional(FirstBid),
  /** A template to begin with: what is given here overrides it, `env` is merged (section 4.2). Then the image may be empty. */
  template: v.optional(
    v.object({ hash: v.pipe(v.string(), v.nonEmpty(), v.maxLength(256)), name: text(256) }),
  ),
  /** Replaces the image's command; only where neither SSH nor Jupyter is asked for. */
  args: v.optional(text(16_384)),
  volume: v.optional(VolumeRequest),
  /** GB expected on its first day: they count in forecasts and guards until traffic is measured. */
  traffic: v.optional(
    v.pipe(
      v.number('give the traffic in GB'),
      v.finite(),
      v.gtValue(0, 'the traffic must be more than 0 GB'),
      v.maxValue(1_000_000, 'at most 1,000,000 GB'),
    ),
  ),
  /** What stops it: guards that are set once it is created, and again on what is rented in its place. */
  stops: v.optional(RentalStops),
})

const imageOrTemplate = 'give a Docker image, such as pytorch/pytorch'

export const RentRequest = v.pipe(
  requestFields,
  v.forward(
    v.partialCheck(
      [['image'], ['template']],
      ({ image, template }) => image !== '' || template !== undefined,
      imageOrTemplate,
    ),
    ['image'],
  ),
)
export type RentRequest = v.InferOutput<typeof RentRequest>

/** The same before an offer is chosen for it. */
export const OpenRequest = v.pipe(
  v.omit(requestFields, ['offer']),
  v.forward(
    v.partialCheck(
      [['image'], ['template']],
      ({ image, template }) => image !== '' || template !== undefined,
      imageOrTemplate,
    ),
    ['image'],
  ),
)
export type OpenRequest = v.InferOutput<typeof OpenRequest>

/** The steps of a rental, in their order. `lost`: the answer did not come, the account is being polled. */
export type RentalStep =
  | 'asking'
  | 'lost'
  | 'unclear'
  | 'waiting'
  | 'running'
  | 'late'
  | 'failed'
  | 'cancelled'

export interface RentalView {
  id: string
  step: RentalStep
  /** Known once the service has created it. */
  instance?: number
  offer: {
    id: number
    gpuName?: string
    gpuCount?: number /** MB per GPU */
    gpuMemory?: number
    pricePerHour?: Micros
    location?: string
  }
  /** Empty where it is left to the template. */
  image: string
  /** The name of the template it is rented from. */
  template?: string
  label?: string
  interruptible: boolean
  /** Epoch seconds of the account's time. */
  startedAt: number
  /** Seconds of the account's time until `late`, counted from creation. */
  deadline: number
  /** While `unclear`: instances that may be the one; the user says which, or that none is. */
  candidates?: readonly number[]
  problem?: Problem
}

/** The best offer that is as good as the machine that is replaced, and how to rent it. */
export interface Replacement {
  /** Absent when the market has nothing as good now. */
  offer?: OfferView
  request: OpenRequest
  /** Everything that a machine as good must meet, what was given up for this answer included. */
  search: SavedQuery
}
