import * as v from 'valibot'
import { type Capabilities, describedCapabilities } from '../account/capabilities.ts'
import { RentalLimits } from '../automation/limit.ts'
import { RecoveryChoice } from '../automation/recovery.ts'
import { count } from '../format/size.ts'
import { OfferId } from '../ids.ts'
import { sortColumns } from './offer-columns.ts'
import { OfferFilter, OfferQuery } from './offer-query.ts'
import { FirstBid } from './rental-bounds.ts'

const text = (most: number) => v.pipe(v.string(), v.maxLength(most, `at most ${most} characters`))

/** Folders that an image needs, which a volume there would cover. */
const neededFolders = new Set(
  [
    '',
    'bin',
    'boot',
    'dev',
    'etc',
    'home',
    'lib',
    'lib64',
    'opt',
    'proc',
    'root',
    'run',
    'sbin',
    'srv',
    'sys',
    'tmp',
    'usr',
    'var',
  ].concat(['root/.ssh', 'root/berth', 'root/.berth']),
)

export const MountPath = v.pipe(
  v.string(),
  v.regex(/^\//, 'a mount path begins with /'),
  v.maxLength(1024, 'at most 1,024 characters'),
  v.check(path => !path.split('/').includes('..'), 'a mount path can’t contain ..'),
  v.check(
    path =>
      !neededFolders.has(
        path
          .split('/')
          .filter(part => part !== '' && part !== '.')
          .join('/'),
      ),
    'choose a folder of its own, such as /data: the machine needs what is in this one',
  ),
)

export const EnvName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'letters, digits and _, not beginning with a digit'),
  v.maxLength(256, 'at most 256 characters'),
)

const anyPort = v.pipe(
  v.number('a port is a number'),
  v.integer('a port is a whole number'),
  v.minValue(1, 'ports begin at 1'),
)
const isPort = (port: number) => port <= 65_535

/** Whether it stands for any port that is the same outside as inside, on services that take such ports. */
export function isIdentityPort(port: number): boolean {
  return port >= 70_000 && port <= 99_999
}

/** A port of the container, and the outside port if it differs. */
export const PortRequest = v.object({
  container: v.pipe(
    anyPort,
    v.check(port => isPort(port) || isIdentityPort(port), 'ports end at 65535'),
  ),
  outside: v.optional(v.pipe(anyPort, v.check(isPort, 'ports end at 65535'))),
  protocol: v.picklist(['tcp', 'udp']),
})

const oneWord = (what: string, most: number) =>
  v.pipe(
    v.string(),
    v.maxLength(most, `at most ${most} characters`),
    v.regex(/^[^\s'"]*$/, `${what} has no spaces and no quotes`),
  )

const noOption = v.regex(/^[^-]/, 'it is not empty, and does not begin with -')

/** The login to a private image's registry. The token is a secret, and empty when stored. */
export const RegistryLogin = v.object({
  server: v.pipe(oneWord('a registry', 512), noOption),
  user: v.pipe(oneWord('a user', 256), noOption),
  token: oneWord('a token', 8192),
})

export type RegistryLogin = v.InferOutput<typeof RegistryLogin>

/** Starts JupyterLab or the Notebook in a folder; an empty one is the image's default. */
export const JupyterRequest = v.object({
  lab: v.boolean(),
  folder: v.pipe(
    v.string(),
    v.maxLength(1024, 'at most 1,024 characters'),
    v.regex(/^(?:\/|$)/, 'a folder begins with /'),
  ),
})
export type JupyterRequest = v.InferOutput<typeof JupyterRequest>

/** The name of a new volume, as deployments take it. */
export const VolumeName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_]{1,64}$/, 'a volume’s name is up to 64 letters, digits and _'),
)

/** A volume to link, or to create from a volume offer (section 2.4). */
export const VolumeRequest = v.variant('create', [
  v.object({
    create: v.literal(false),
    volume: v.pipe(v.number('enter the volume’s id'), v.safeInteger(), v.minValue(1)),
    /** The machine that the volume is on, where known: no other is tried. */
    machine: v.optional(v.number()),
    mountPath: MountPath,
  }),
  v.object({
    create: v.literal(true),
    /** Of the volume offer; absent: of the one on the rented offer's machine. */
    volume: v.optional(v.pipe(v.number('enter the volume offer’s id'), v.safeInteger(), v.minValue(1))),
    name: v.optional(VolumeName),
    /** GB. */
    size: v.pipe(
      v.number('enter the size in GB'),
      v.finite(),
      v.gtValue(0, 'the volume must be larger than 0 GB'),
    ),
    mountPath: MountPath,
  }),
])

/** The error about a start script's length, for its field; undefined if accepted. */
export function startScriptTooLong(
  script: string,
  { longestStartScript }: Pick<Capabilities, 'longestStartScript'> = describedCapabilities,
): string | undefined {
  return script.length > longestStartScript ? `At most ${count(longestStartScript)} characters.` : undefined
}

/** The most characters of an instance's label. */
export const longestLabel = 128

const imageHint = 'an image is written like pytorch/pytorch:latest'

/** Docker image with an optional tag. */
export const ImageName = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(512, 'at most 512 characters'),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._\-/:@]*$/, imageHint),
)

/** GB. */
export const DiskSize = v.pipe(
  v.number('enter the disk in GB'),
  v.finite(),
  v.gtValue(0, 'the disk must be larger than 0 GB'),
  v.maxValue(100_000, 'at most 100,000 GB'),
)

const requestFields = v.object({
  offer: OfferId,
  /** Empty for the template's image. */
  image: v.union([v.literal(''), ImageName], imageHint),
  access: v.picklist(['ssh', 'jupyter', 'none']),
  /**
   * Whether to connect to the machine's own ports, with the service's proxy as fallback; false for the proxy alone.
   * Ignored unless the deployment has runtypes for both.
   */
  direct: v.optional(v.boolean()),
  /** Only with Jupyter as `access`. Absent leaves it to the template. */
  jupyter: v.optional(JupyterRequest),
  registry: v.optional(RegistryLogin),
  disk: DiskSize,
  env: v.pipe(
    v.array(v.object({ name: EnvName, value: text(32_768), secret: v.boolean() })),
    v.maxLength(200, 'at most 200 variables'),
  ),
  ports: v.pipe(v.array(PortRequest), v.maxLength(64, 'at most 64 ports')),
  onstart: v.optional(text(16_384)),
  label: v.optional(text(longestLabel)),
  /** Dollars per hour; makes the instance interruptible. */
  bid: v.optional(FirstBid),
  /** The request's fields override the template's, `env` is merged (section 4.2), and the image may be empty. */
  template: v.optional(
    v.object({ hash: v.pipe(v.string(), v.nonEmpty(), v.maxLength(256)), name: text(256) }),
  ),
  /** Replaces the image's command; only without SSH and Jupyter. */
  args: v.optional(text(16_384)),
  volume: v.optional(VolumeRequest),
  /** The overlay that it joins, which reaches the machines of one cluster alone. */
  overlay: v.optional(
    v.object({
      name: v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, 'small letters, digits and -')),
      cluster: v.number(),
    }),
  ),
  /** GB expected on its first day, for forecasts and limits until traffic is measured. */
  traffic: v.optional(
    v.pipe(
      v.number('enter the traffic in GB'),
      v.finite(),
      v.gtValue(0, 'the traffic must be more than 0 GB'),
      v.maxValue(1_000_000, 'at most 1,000,000 GB'),
    ),
  ),
  /** Limits to set once it is created, and also on its replacements. */
  limits: v.optional(RentalLimits),
  /** With a bid: Berth's reaction once the machine is outbid. Its replacements take over the machine's own. */
  recovery: v.optional(RecoveryChoice),
})

const imageOrTemplate = 'enter a Docker image, such as pytorch/pytorch'

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

/** Characters that the watchdog needs which comes with a start script, where that must be short. */
const watchdogLength = 2400

/** A shell runs it: it names none, or that. */
const shellScript = /^(?!#!)|^#!\s*\S*\/(?:env\s+(?:-S\s+)?)?(?:ba|da|z|k|a)?sh(?:\s|$)/

/**
 * From when a watchdog keeps a rental's limits that also count in a sleep: from its start on, once Berth has connected, or
 * never. A machine without SSH has no start script either.
 */
export function watchdogFrom(
  { access, template, onstart }: Pick<RentRequest, 'access' | 'onstart'> & { template?: unknown },
  { longestStartScript }: Pick<Capabilities, 'longestStartScript'>,
): 'start' | 'connected' | 'never' {
  if (access === 'none') return 'never'
  // What the template brings isn't known.
  if (template !== undefined && onstart === undefined) return 'connected'
  const script = onstart ?? ''
  const comes = shellScript.test(script) && script.length + watchdogLength <= longestStartScript
  return comes ? 'start' : 'connected'
}

/** The same without an offer. */
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

/** The search for the offers of a rental with retries, and the order in which they are tried. */
export const RentalSearch = v.object({
  query: OfferQuery,
  filter: OfferFilter,
  order: v.object({
    column: v.picklist(sortColumns),
    descending: v.boolean(),
  }),
})
export type RentalSearch = v.InferOutput<typeof RentalSearch>
