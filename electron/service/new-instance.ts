/** Section 2.4. `volume_id` is a volume's id to link, or a volume offer's id to create one. */
export interface VolumeInfo {
  create_new: boolean
  volume_id?: number
  /** Of a new one, where the deployment names volumes. */
  name?: string
  /** GB, when creating. */
  size?: number
  mount_path: string
}

/**
 * The request of section 4.2's creation, the same for every deployment. With `template_hash_id`, scalar fields override
 * the template's, and `env` is merged with precedence over it. Without `extra_filters`, since the offer is chosen
 * already, and without `template_id`, which is an error.
 */
export interface NewInstance extends SharedBody {
  /** Absent: as the template has it. */
  access?: 'ssh' | 'jupyter' | 'none'
  /** False: through the proxy alone, where the service lets a rental choose. */
  direct?: boolean
  /** The login for a private image. The token is a secret. */
  registry?: { server: string; user: string; token: string }
}

/** The fields that every deployment takes in the same way. */
interface SharedBody {
  /** Docker image with optional tag. */
  image?: string
  /** GB. */
  disk?: number
  onstart?: string
  template_hash_id?: string
  /** Name to value; port mappings are keys such as `-p 8080:8080` with the value `1`. */
  env?: Record<string, string>
  volume_info?: VolumeInfo
  args_str?: string
  jup_direct?: boolean
  jupyter_dir?: string | null
  use_jupyter_lab?: boolean
  label?: string
  /** The bid in dollars per hour, which makes it interruptible; without one the instance is on demand. */
  price?: number
  /** Fails instead of creating it stopped. */
  cancel_unavail?: boolean
  target_state?: 'running' | 'stopped'
}

/** The body as it is sent, in a deployment's words. */
export interface RentalBody extends SharedBody {
  /** `ssh`, `jupyter`, `args`, or deployments' own lists such as `ssh_direc ssh_proxy`. */
  runtype?: string
  ssh_direct?: boolean
  use_ssh?: boolean
  docker_login_repo?: string
  docker_login_user?: string
  docker_login_pass?: string
  /** `-u USER -p TOKEN REGISTRY`, for deployments that use it instead of the three above. A secret. */
  image_login?: string
}
