/*
 * The bounds of the ledger of Docs/ObjectStorage.md: someone with write access to the private prefix alone rewrites the ledger, which
 * is not signed. Images and roots are signed, and so the adversary can only use those that publishers made.
 *
 * What is modelled: one served root, images as sets of files, the committed image, one ready job, claims, loose files, and publishers
 * that complete, discard, claim, upload, write the root, commit and delete, each in steps of its own, and that may be killed between
 * them. The adversary rewrites all of the ledger once. Requests that arrive late are the subject of bucket.pml.
 *
 * What is checked: the served root is never replaced by a root of a lower or equal number, and never names a missing file. With
 * ANY_TIME the adversary acts at any moment, and only the first is checked: the files of a job that is at work at that moment can be
 * deleted. Without it the adversary acts while no publisher is at work.
 *
 * Each bound can be left out, to show that it is needed: Tests/Models/run has the list.
 */

#ifndef PUBLISHERS
#define PUBLISHERS 2
#endif
#define NONE 7 /* no image */

/* Signed images: image 0 is the first, image p + 1 is made by publisher p. The root of an image names its files. */
byte files[PUBLISHERS + 1];
byte number[PUBLISHERS + 1];
byte before[PUBLISHERS + 1];
bool exists[PUBLISHERS + 1]; /* is in the bucket, and may be used by the adversary */

/* The public prefix. */
byte present = 1;
byte served = 0; /* the image whose root is served */

/* The ledger. */
byte committed = 0;
byte ready = NONE;
bool claimed[PUBLISHERS + 1];
byte loose;
byte deleting; /* files */

byte busy; /* publishers at work */

#ifdef ANY_TIME
#define whole() skip
#define quiet() true
#else
#define whole() assert((files[served] & ~present) == 0)
#define quiet() (busy == 0)
#endif
#define mayDie if :: goto over :: skip fi

/* A job that follows from the images alone, and whose files exist. */
#ifdef NO_SUCCESSOR
#define follows(i) true
#else
#define follows(i) (before[i] == committed && number[i] == number[committed] + 1)
#endif
#ifdef NO_FILES
#define complete(i) true
#else
#define complete(i) ((files[i] & ~present) == 0)
#endif
#define valid(i) (i != NONE && follows(i) && complete(i))

/* Whether the served root shows that the ledger is older. */
#ifdef NO_SERVED
#define rolledBack() false
#else
#define rolledBack() (served != committed && number[served] >= number[committed] && !(valid(ready) && served == ready))
#endif

inline writeRoot(seen, next) {
  atomic {
    if
    :: served == seen && served != next -> assert(number[next] > number[served]); served = next; whole()
    :: else
    fi
  }
}

/* Commits the image of a ready job, if the ledger still has it. */
inline finish(base, next) {
  atomic {
    if
    :: ready == next && committed == base -> loose = loose | (files[base] & ~files[next]); committed = next; ready = NONE; claimed[next] = false
    :: else
    fi
  }
}

proctype Publisher(byte p) {
  byte me, base, job, seen, want, mine, took, f;
  bool works;
  me = p + 1;

  /* Begin: a valid ready job is completed, an invalid one discarded. */
  do
  :: atomic { rolledBack() -> goto over }
  :: atomic { !rolledBack() && ready == NONE -> base = committed; seen = served; break }
  :: atomic { !rolledBack() && ready != NONE && !valid(ready) -> loose = loose | (files[ready] & ~files[committed]); ready = NONE }
  :: atomic { !rolledBack() && valid(ready) -> base = committed; job = ready; seen = served; works = true; busy++ };
     writeRoot(seen, job);
     mayDie;
     finish(base, job);
     atomic { works = false; busy-- }
  od;

  /* The image, and the claim. */
  if :: want = 1 :: want = 2 :: want = 3 fi;
  atomic {
    if
    :: rolledBack() || committed != base || ready != NONE || (want & deleting) -> goto over
    :: else ->
       seen = served; files[me] = want; number[me] = number[base] + 1; before[me] = base; claimed[me] = true; loose = loose & ~want;
       works = true; busy++
    fi
  };
  /* The image may be uploaded before the files. */
  exists[me] = true;
  mayDie;
  if :: want & 1 -> atomic { present = present | 1 } :: else fi;
  mayDie;
  if :: want & 2 -> atomic { present = present | 2 } :: else fi;
  mayDie;
  atomic {
    if
    :: claimed[me] && committed == base && ready == NONE -> ready = me
    :: else -> goto over
    fi
  };
  mayDie;
  writeRoot(seen, me);
  mayDie;
  finish(base, me);
  mayDie;
  atomic { works = false; busy-- };

  /* Delete. */
  atomic {
    if
#ifdef NO_NEEDED
    :: deleting == 0 -> mine = loose; loose = 0; deleting = mine; took = mine; works = true; busy++
#else
    :: deleting == 0 && committed == me && served == me -> mine = loose & ~files[me]; loose = 0; deleting = mine; took = mine; works = true; busy++
#endif
    :: else -> goto over
    fi
  };
  do
  :: mine == 0 -> break
  :: mine != 0 -> f = (mine & 1 -> 1 : 2); mine = mine & ~f; atomic { present = present & ~f; whole() }
  od;
  deleting = deleting & ~took;
over:
  atomic { if :: works -> busy-- :: else fi; works = false; base = 0; job = 0; seen = 0; want = 0; mine = 0; took = 0; f = 0 }
}

/* Rewrites the ledger to anything that can be read: claims exclude loose files. */
proctype Adversary() {
  byte i, names;
  atomic {
    quiet();
    for (i : 0 .. PUBLISHERS) { if :: exists[i] -> committed = i :: skip fi };
    if :: ready = NONE :: skip fi;
    for (i : 0 .. PUBLISHERS) { if :: exists[i] -> ready = i :: skip fi };
    for (i : 1 .. PUBLISHERS) { if :: claimed[i] = false :: skip fi };
    if :: ready != NONE -> claimed[ready] = true :: else fi; /* a job with other claims is not valid */
    if :: loose = 0 :: loose = 1 :: loose = 2 :: loose = 3 :: skip fi;
    for (i : 0 .. PUBLISHERS) { if :: claimed[i] -> names = names | (files[i] & ~files[committed]) :: else fi };
    loose = loose & ~names;
    i = 0; names = 0
  }
}

init {
  byte i;
  atomic {
    files[0] = 1; number[0] = 1; before[0] = NONE; exists[0] = true;
    run Adversary();
    for (i : 0 .. PUBLISHERS - 1) { run Publisher(i) };
    i = 0
  }
}
