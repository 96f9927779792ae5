// The interface between the library and its module of pre-call tests. Its names are members of a
// global of the page, so the build never shortens them.

/** A JSON object. */
export type Json = Record<string, unknown>;

/** The session that tests belong to. */
export interface Host {
  /**
   * Requests the configuration; more are further members of the request. Resolves to an empty object
   * without an answer, within 10 s. Emits recommendedConfig.
   */
  configure(more?: object): Promise<Json>;
  /** Records a finished test. */
  record(members: object): void;
  /** Emits an event that is an answer. */
  emit(name: string, ...args: unknown[]): void;
  /** Whether a call of the session is in progress. */
  inCall(): boolean;
}

/** The tests of one session. */
export interface Tester {
  /** The test that follows a login, with the configuration of that login. */
  automatic(configuration: Json): void;
  /** Tests the servers of the collector once. The callback receives the results of that test. */
  make(callback?: (...args: unknown[]) => unknown): void;
  /** Tests these servers, and again so many seconds after each round. It replaces the tests of an earlier start. */
  start(servers: unknown, seconds: number): void;
  /** Ends the tests of start(). */
  stop(): void;
  /** Ends all tests: the session is over. */
  end(): void;
}

/** The module. */
export interface Precall {
  /** Makes the tests of a session. */
  create(host: Host): Tester;
  /** Ends the test that runs on the page, at once: a call starts. Its results are partial. */
  interrupt(): void;
}

/** The member of the page's global object that is the module. */
export const moduleKey = Symbol.for('qos.precall');

/** The global object of the page. */
export const page = globalThis as unknown as { [moduleKey]?: Precall };
