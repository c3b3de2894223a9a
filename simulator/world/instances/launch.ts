import type { JsonObject } from '../../fields.ts'

/** Volumes that a creation asks for, section 2.4. */
export interface VolumeRequest {
  createNew: boolean
  volumeId: number
  /** GB, only for a new one. */
  size: number | null
  mountPath: string
}

/** What is asked for when an instance is created, the template's values merged in. */
export interface Launch {
  /** With its tag. */
  image: string
  /** GB. */
  disk: number
  runtype: string
  onstart: string
  env: Record<string, string>
  label: string
  /** Micro-dollars per hour; null for an on-demand instance. */
  bid: number | null
  /** Fail rather than create it stopped. */
  cancelUnavailable: boolean
  targetState: 'running' | 'stopped'
  template: { hashId: string; name: string } | null
  volume: VolumeRequest | null
  /** The registry that a login is given for; null without one. */
  registry: string | null
  extraFilters: JsonObject
}

/** What the creation of an instance needs to know about a template. */
export interface LaunchTemplate {
  hashId: string
  name: string
  /** The template's fields as section 2.3 names and types them, defaults included. */
  fields: JsonObject
}

/** Where the creation of an instance finds templates. */
export interface LaunchTemplates {
  /** The template with this `hash_id` now, if the caller may use it. */
  find(hashId: string): LaunchTemplate | undefined
  /** Counts a creation for `count_created` and `recent_create_date`; `at` is world milliseconds. */
  launched(hashId: string, at: number): void
}
