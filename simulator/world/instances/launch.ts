import type { JsonObject } from '#simulator/fields.ts'

/** Volumes that a creation asks for, section 2.4. */
export interface VolumeRequest {
  createNew: boolean
  volumeId: number
  /** GB, only for a new one. */
  size: number | null
  mountPath: string
}

/** The request to create an instance, merged with its template. */
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
  /** The registry of the login; null without one. */
  registry: string | null
  extraFilters: JsonObject
}

/** The part of a template that creating an instance needs. */
export interface LaunchTemplate {
  hashId: string
  name: string
  /** The template's fields as section 2.3 names and types them, defaults included. */
  fields: JsonObject
}

/** Finds templates for the creation of instances. */
export interface LaunchTemplates {
  /** The template with this `hash_id`, if the caller may use it. */
  find(hashId: string): LaunchTemplate | undefined
  /** Counts a creation for `count_created` and `recent_create_date`; `at` is world milliseconds. */
  launched(hashId: string, at: number): void
}
