/*
 * Publishing to object storage: the protocol of Docs/ObjectStorage.md, with several publishers, kills, answers that are lost,
 * requests that arrive late, and deletions.
 *
 * What is modelled: the objects of a bucket (sets of files as bit masks), the ledger, which is replaced by compare-and-set and so
 * changes in one step, two served roots, and a network that may hold any request back until it is too old for the server. A
 * publisher that lost an answer goes on as the protocol says: it sends again, or reads back.
 *
 * What is checked: no served root ever names a file that is not there (`whole`); when all publishers have ended, one that comes
 * later finishes or frees what the killed ones left, and afterwards the bucket holds what the image names and nothing else; a
 * publisher that was told that it was done is part of the history; a job that becomes ready knows the ETags of the roots.
 *
 * Each rule of the protocol can be left out, to see that it is needed: Tests/Models/run says which.
 */

#ifndef PUBLISHERS
#define PUBLISHERS 2
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef FILES
#define FILES 2
#endif
#define ALL ((1 << FILES) - 1)
#define NONE 0
#define CLAIMED 1
#define READY 2
#define TIDIER PUBLISHERS /* the publisher that comes last */

/* The bucket. */
byte present = 1;     /* files that are there */
byte named[2] = 1;    /* files that each served root names */
byte tag[2] = 1;      /* the ETag of each root: the number of the image that it was written for */

/* The ledger. */
byte image = 1;       /* files of the image */
byte imageRoot[2] = 1; /* those that each of its roots names */
byte number = 1;      /* of the image */
byte fresh;           /* files that the image just left: a PUT of them may still be on its way */
byte loose;           /* files that may be there and that no image or job wants, nor can come again */
byte deleting[PUBLISHERS + 1]; /* files that a publisher deletes */
byte phase[PUBLISHERS];
byte claim[PUBLISHERS];    /* files that the image of its base does not have */
byte intent0[PUBLISHERS];  /* what the roots of a job name */
byte intent1[PUBLISHERS];
byte base[PUBLISHERS];     /* the number of the image that a job began with */
byte finished;        /* jobs that were finished, as bits */

/* Requests that were sent and have not arrived, and may. */
byte latePut[PUBLISHERS];
byte lateDelete[PUBLISHERS + 1];
bool lateRoot[2 * (PUBLISHERS + 1)];
byte lateOld[2 * (PUBLISHERS + 1)];
byte lateNew[2 * (PUBLISHERS + 1)];
byte lateNames[2 * (PUBLISHERS + 1)];

/* Time, by the server's clock: what was signed before is refused from then on. */
bool leaseOver[PUBLISHERS];
bool deletesOver[PUBLISHERS + 1];

byte kills;
byte ended;

#define whole() assert(((named[0] | named[1]) & ~present) == 0)

inline claimedByOthers(ofJob, result) {
  result = 0;
  other = 0;
  do
  :: other < PUBLISHERS -> if :: other != ofJob && phase[other] != NONE -> result = result | claim[other] :: else fi; other++
  :: else -> break
  od;
  other = 0
}

/* Roots are written where the ETag is the one that the job found. */
inline arriveRoot(theRoot, oldTag, newTag, theFiles) {
  if
#ifdef BLIND_ROOTS
  :: tag[theRoot] = newTag; named[theRoot] = theFiles
#else
  :: tag[theRoot] == oldTag -> tag[theRoot] = newTag; named[theRoot] = theFiles
  :: else
#endif
  fi;
  whole()
}

/* A root write by publisher `w` for job `j`; its answer may be lost, and the request may arrive late. */
inline sendRoot(writer, forJob, rootIndex, rootFiles) {
  if
  :: atomic { arriveRoot(rootIndex, base[forJob], base[forJob] + 1, rootFiles) }
  :: atomic {
       lateRoot[2 * writer + rootIndex] = true; lateOld[2 * writer + rootIndex] = base[forJob]; lateNew[2 * writer + rootIndex] = base[forJob] + 1;
       lateNames[2 * writer + rootIndex] = rootFiles
     }
  fi
}

/* Completes a job that is ready: its own publisher, or any other. Roots are read back: a 412 of an own write is no failure. */
inline complete(helper, readyJob) {
  do
  :: phase[readyJob] != READY -> break
#ifdef NO_READ_BACK
  :: phase[readyJob] == READY -> r0 = intent0[readyJob]; r1 = intent1[readyJob]; atomic {
       if
       :: tag[0] == base[readyJob] && tag[1] == base[readyJob] ->
          arriveRoot(0, base[readyJob], base[readyJob] + 1, r0); arriveRoot(1, base[readyJob], base[readyJob] + 1, r1)
       :: else -> goto stuck
       fi }
#endif
  :: phase[readyJob] == READY && tag[0] != base[readyJob] + 1 -> r0 = intent0[readyJob]; if :: phase[readyJob] == READY -> sendRoot(helper, readyJob, 0, r0) :: else fi
  :: phase[readyJob] == READY && tag[0] == base[readyJob] + 1 && tag[1] != base[readyJob] + 1 ->
     r1 = intent1[readyJob]; if :: phase[readyJob] == READY -> sendRoot(helper, readyJob, 1, r1) :: else fi
  :: phase[readyJob] == READY && tag[0] == base[readyJob] + 1 && tag[1] == base[readyJob] + 1 ->
     atomic { /* the ledger: finish */
       if
       :: phase[readyJob] == READY ->
          claimedByOthers(readyJob, others);
#ifdef NO_FRESH
          loose = loose | (image & ~(intent0[readyJob] | intent1[readyJob]) & ~others);
#else
          fresh = fresh | (image & ~(intent0[readyJob] | intent1[readyJob]) & ~others);
#endif
          image = intent0[readyJob] | intent1[readyJob]; imageRoot[0] = intent0[readyJob]; imageRoot[1] = intent1[readyJob]; number = base[readyJob] + 1;
          phase[readyJob] = NONE; claim[readyJob] = 0; finished = finished | (1 << readyJob); others = 0
       :: else
       fi
     }
  od
}

inline helpOthers(self) {
  k = 0;
  do
  :: k < PUBLISHERS -> if :: k != self && phase[k] == READY -> complete(self, k) :: else fi; k++
  :: else -> break
  od;
  k = 0
}

/* Jobs whose lease is over: what they claimed and no one else wants is loose. One that is ready is completed, never freed. */
inline freeOthers(freer) {
  atomic {
    k = 0;
    do
    :: k < PUBLISHERS ->
       if
#ifdef FREE_EARLY
       :: k != freer && phase[k] == CLAIMED ->
#else
       :: k != freer && phase[k] == CLAIMED && leaseOver[k] ->
#endif
          claimedByOthers(k, others);
          loose = loose | (claim[k] & ~image & ~others);
          phase[k] = NONE; claim[k] = 0; others = 0
       :: else
       fi;
       k++
    :: else -> break
    od;
    k = 0
  }
}

/* What is loose is deleted in two steps. Of a name whose DELETE had no answer it is not known when it will arrive. */
inline deleteLoose(deleter) {
  atomic {
#ifdef ONE_STEP_DELETE
    mine = loose; loose = 0
#else
    if
    :: deleting[deleter] == 0 && !deletesOver[deleter] -> mine = loose; loose = 0; deleting[deleter] = mine
    :: else -> mine = 0
    fi
#endif
  };
  answered = mine;
  do
  :: mine != 0 ->
     f = (mine & 1 -> 1 : (mine & 2 -> 2 : 4));
     mine = mine & ~f;
     if
     :: deletesOver[deleter] -> answered = answered & ~f
     :: atomic { !deletesOver[deleter] -> present = present & ~f; whole() }
     :: atomic { !deletesOver[deleter] -> lateDelete[deleter] = lateDelete[deleter] | f; answered = answered & ~f }
     fi
  :: else -> break
  od;
  atomic { deleting[deleter] = deleting[deleter] & ~answered; answered = 0; f = 0 }
}

/* Names that a publisher may not claim: their DELETE may still arrive. */
inline beingDeleted(busyNames) {
  busyNames = 0;
  k = 0;
  do
  :: k <= PUBLISHERS ->
#ifndef CLAIM_DELETING
     if :: !deletesOver[k] -> busyNames = busyNames | deleting[k] :: else fi;
#endif
     k++
  :: else -> break
  od;
  k = 0
}

inline forgetDeleting(claimedNames) {
  k = 0;
  do
  :: k <= PUBLISHERS -> deleting[k] = deleting[k] & ~claimedNames; k++
  :: else -> break
  od;
  k = 0
}

#define mayDie if :: atomic { kills < KILLS -> kills++; goto dead } :: skip fi

proctype Publisher(byte j) {
  byte k, other, others, mine, answered, f, r0, r1;
  byte want0, want1, want, up, blocked;
  byte began, seen0, seen1;
  mayDie;
  helpOthers(j);
  freeOthers(j);
  atomic { began = number; up = image };

  /* The ETags of the roots are read beside the claim, before it or after it: they are those of the job's intents. */
  if :: seen0 = tag[0] :: skip fi;
  if :: seen1 = tag[1] :: skip fi;

  /* The image that it makes: files of the one before, files that were there once, new ones. */
  if :: want0 = 1 :: want0 = 2 fi;
  if :: want1 = 1 :: want1 = 2 fi;
  want = want0 | want1;

  atomic { /* the ledger: claim */
    beingDeleted(blocked);
    if
    :: number != began || (want & blocked) != 0 -> goto gaveUp /* begins again later, as another publisher */
    :: else ->
       phase[j] = CLAIMED; base[j] = began; intent0[j] = want0; intent1[j] = want1;
#ifdef NO_CLAIM
       claim[j] = 0;
#else
       claim[j] = want & ~up;
#endif
       loose = loose & ~want;
       fresh = fresh & ~want;
       forgetDeleting(want)
    fi
  };
  if :: seen0 == 0 -> seen0 = tag[0] :: else fi;
  if :: seen1 == 0 -> seen1 = tag[1] :: else fi;
  mayDie;

  /* Files that the image of its base has are there; of all others it is not known. */
  up = want & ~up;
  do
  :: up == 0 -> break
  :: up != 0 && leaseOver[j] -> goto gaveUp
  :: up != 0 && !leaseOver[j] ->
     f = (up & 1 -> 1 : (up & 2 -> 2 : 4));
     if
     :: atomic { !leaseOver[j] -> present = present | f; up = up & ~f } /* 200, or 412 of the same bytes */
     :: atomic { !leaseOver[j] -> latePut[j] = latePut[j] | f }         /* no answer: it is sent again */
     :: leaseOver[j]
     fi;
     mayDie
  od;

  atomic { /* the ledger: ready */
    k = 0; blocked = 0;
    do
    :: k < PUBLISHERS -> if :: phase[k] == READY -> blocked = 1 :: else fi; k++
    :: else -> break
    od;
    k = 0;
    if
#ifdef NO_BASE_CHECK
    :: phase[j] == CLAIMED -> phase[j] = READY; base[j] = number
#else
    :: phase[j] == CLAIMED && number == base[j] && !blocked -> assert(seen0 == tag[0] && seen1 == tag[1]); phase[j] = READY
#endif
    :: else -> goto gaveUp
    fi;
    blocked = 0
  };
  mayDie;
  complete(j, j);
  assert(finished & (1 << j));
  mayDie;
  deleteLoose(j);
  goto dead;

#ifdef NO_READ_BACK
stuck:
  assert(false);
#endif
gaveUp: /* a publisher that cannot go on leaves its claims: they are freed when its lease is over */
  skip;
dead:
  atomic { ended++; want0 = 0; want1 = 0; want = 0; up = 0; mine = 0; answered = 0; f = 0; began = 0; seen0 = 0; seen1 = 0; r0 = 0; r1 = 0; blocked = 0 }
}

#define PUT_ARRIVES(j, f) \
  :: d_step { (latePut[j] & f) -> latePut[j] = latePut[j] & ~f; present = present | f }
#define DELETE_ARRIVES(w, f) \
  :: d_step { (lateDelete[w] & f) -> lateDelete[w] = lateDelete[w] & ~f; present = present & ~f; whole() }
#define ROOT_ARRIVES(w, r) \
  :: d_step { lateRoot[2 * w + r] -> lateRoot[2 * w + r] = false; \
       arriveRoot(r, lateOld[2 * w + r], lateNew[2 * w + r], lateNames[2 * w + r]); \
       lateOld[2 * w + r] = 0; lateNew[2 * w + r] = 0; lateNames[2 * w + r] = 0 }

/* Hands over what was held back, in any order, or never. */
proctype Network() {
end:
  do
  PUT_ARRIVES(0, 1) PUT_ARRIVES(0, 2) PUT_ARRIVES(1, 1) PUT_ARRIVES(1, 2)
  DELETE_ARRIVES(0, 1) DELETE_ARRIVES(0, 2) DELETE_ARRIVES(1, 1) DELETE_ARRIVES(1, 2)
  ROOT_ARRIVES(0, 0) ROOT_ARRIVES(0, 1) ROOT_ARRIVES(1, 0) ROOT_ARRIVES(1, 1) ROOT_ARRIVES(TIDIER, 0) ROOT_ARRIVES(TIDIER, 1)
#if PUBLISHERS > 2
  PUT_ARRIVES(2, 1) PUT_ARRIVES(2, 2) DELETE_ARRIVES(2, 1) DELETE_ARRIVES(2, 2) ROOT_ARRIVES(2, 0) ROOT_ARRIVES(2, 1)
#endif
  od
}

#define LEASE_ENDS(j) :: d_step { !leaseOver[j] && phase[j] == CLAIMED -> leaseOver[j] = true; latePut[j] = 0 }
#define DELETES_END(w) :: d_step { !deletesOver[w] && deleting[w] != 0 -> deletesOver[w] = true; lateDelete[w] = 0 }

/* Lets time pass: leases and requests grow old, and what is still under way then is refused by the server. */
proctype Clock() {
  byte k;
end:
  do
  LEASE_ENDS(0) LEASE_ENDS(1) DELETES_END(0) DELETES_END(1)
#if PUBLISHERS > 2
  LEASE_ENDS(2) DELETES_END(2)
#endif
  /* Every PUT that was sent before a name became fresh is too old: so the name may be deleted. */
  :: d_step {
       fresh != 0 ->
       for (k : 0 .. PUBLISHERS - 1) { latePut[k] = latePut[k] & ~fresh }
       loose = loose | fresh; fresh = 0; k = 0
     }
  od
}

/* Comes when all others have ended and their leases with them. Its requests are answered. */
proctype Tidier() {
  byte k, other, others, f, r0, r1, w;
  ended == PUBLISHERS;
  d_step {
    loose = loose | fresh; fresh = 0;
    k = 0;
    do
    :: k < PUBLISHERS ->
#ifndef FREE_EARLY
       latePut[k] = 0;
#endif
       leaseOver[k] = true; lateDelete[k] = 0; deletesOver[k] = true; k++
    :: else -> break
    od;
    k = 0
  };
  w = TIDIER;
  helpOthers(w);
  freeOthers(w);
  atomic {
    loose = loose | fresh | deleting[0] | deleting[1]; fresh = 0; /* and time passes again */
#if PUBLISHERS > 2
    loose = loose | deleting[2];
#endif
    loose = loose & ~image;
    present = present & ~loose; loose = 0;
    whole();
    assert(present == image);
    assert(named[0] == imageRoot[0] && named[1] == imageRoot[1]);
#ifdef FREE_EARLY
    /* A PUT that is still on its way leaves a file that no one knows of. */
    k = 0;
    do
    :: k < PUBLISHERS -> present = present | latePut[k]; k++
    :: else -> break
    od;
    assert(present == image)
#endif
  }
#ifdef NO_READ_BACK
  goto over;
stuck:
  assert(false);
over:
#endif
  skip
}

init {
  byte i;
  atomic {
    run Network(); run Clock(); run Tidier();
    i = 0;
    do
    :: i < PUBLISHERS -> run Publisher(i); i++
    :: else -> break
    od;
    i = 0
  }
}
