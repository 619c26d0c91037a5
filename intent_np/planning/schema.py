"""The language of the e-graph.

    V   values: functions of coordinates, wherever they are computed
    X   executions: a value at a place.  (At v p) is the class of all ways to have v at p; every other node holds its
        place, else two executions in different loops would become one class

A place is a number; which loops it stands in, which loop may come before which, and the axes with a role are facts
(`places.py`).  Lanes are sets of axes as bits.  `lev` is a lower bound on the loops that must be over before a value is
known; an e-class keeps the least over all its forms, so that a factored sum may enter an earlier loop.
"""

from __future__ import annotations

SORTS = """
(datatype V
  (Leaf i64) (Seen i64)                   ; known wherever its coordinates are; at some places alone
  (Un String V) (Bin String V V) (Tri String V V V)
  (Got i64 V)                             ; a load at a computed address that is known at some places alone
  (Red String i64 V)                      ; combine, axis; of several operands, such as a product's, a Bin "with"
  (Scan String i64 V)                     ; combine, axis; like Red, but of each prefix
  (Top i64 V) (Weighed String i64 V V))   ; axis, scores: the maximum; a sum weighed by exp(score - maximum)
(datatype X
  (At V i64 :unextractable)
  (XLeaf i64 i64)                         ; value, place
  (XUn String i64 i64 X) (XBin String i64 i64 X X) (XTri String i64 i64 X X X)      ; operator, lanes, place
  (XHold String i64 i64 i64 X)            ; combine, axis, lanes, place: over an axis that a fragment holds
  (XScan String i64 i64 i64 X)            ; combine, axis, lanes, place: in a fragment, or carried by the loop around it
  (XFold String i64 i64 i64 X X)          ; combine, axis, lanes, body: in a loop, with (Loop body)
  (XTop i64 i64 i64 X X)                  ; axis, lanes, body: the running maximum
  (XWeighed String i64 i64 X X)           ; what, lanes, body: a sum rescaled with its maximum
  (Get i64 X)                             ; reader: a result of a loop behind it
  (XWrite i64 i64 i64 X X)                ; value, lanes, body: kept in memory by a loop
  (XRead i64 i64 i64 i64 X)               ; value, lanes, place, body: read there
  (Loop i64)                              ; body: paid once a loop
  (Eff i64 i64) (XStore i64 i64 X X) (Seq X X) (XFrame i64 X) (Root))
(function lanes (V) i64 :merge (& old new))
(function lev (V i64) i64 :merge (min old new))
(relation loops (i64))                    ; a set of looped axes
(relation opens (i64 i64))                ; place, axes along which a value may vary there
(relation slot (i64 i64 i64))             ; axis, body, reader: a loop over the axis may come before the reader
(relation turn (i64 i64 i64))             ; place, looped axes of its frame, how many loops may be over before it
(relation around (i64 i64))               ; body, the axis of the loop right around its own, as a set
(relation holds (i64 i64))                ; axis, place: a fragment holds the axis
(relation steps (i64 i64 i64))            ; axis, place, axes inside: a loop around it walks the axis
(relation sees (i64 i64))                 ; leaf, place where it is known
(relation gets (i64 i64))                 ; load at a computed address, place where it is known
(relation outside (i64 i64 i64))          ; place in an ordered loop, the last in front of it, the loop as an axis
(relation keeps (i64 i64 i64))            ; axis, body, reader: the reader may read what the loop kept
(relation stores (i64 V)) (relation stored (i64 i64 i64))   ; statement, frame, place
(relation cand (V i64)) (relation dtype (V String)) (relation casts (String String)) (relation widens (String String))
(relation dot (String)) (relation all_of ())
(ruleset facts) (ruleset outward) (ruleset place) (ruleset exact) (ruleset algebra) (ruleset online)
"""

FACTS = """
(rule ((= v (Un o a)) (= d (lanes a))) ((set (lanes v) d)) :ruleset facts)
(rule ((= v (Bin o a b)) (= d (lanes a)) (= e (lanes b))) ((set (lanes v) (| d e))) :ruleset facts)
(rule ((= v (Tri o c a b)) (= f (lanes c)) (= d (lanes a)) (= e (lanes b)))
      ((set (lanes v) (| f (| d e)))) :ruleset facts)
(rule ((= v (Red o k a)) (= d (lanes a))) ((set (lanes v) (& d (^ -1 (<< 1 k))))) :ruleset facts)
(rule ((= v (Scan o k a)) (= d (lanes a))) ((set (lanes v) (| d (<< 1 k)))) :ruleset facts)
(rule ((= v (Top k a)) (= d (lanes a))) ((set (lanes v) (& d (^ -1 (<< 1 k))))) :ruleset facts)
(rule ((= v (Weighed o k a b)) (= d (lanes a)) (= e (lanes b)))
      ((set (lanes v) (& (| d e) (^ -1 (<< 1 k))))) :ruleset facts)
(rule ((= v (Leaf i)) (loops m)) ((set (lev v m) 0)) :ruleset facts)
(rule ((= v (Seen i)) (loops m)) ((set (lev v m) 0)) :ruleset facts)
(rule ((= v (Un o a)) (= l (lev a m))) ((set (lev v m) l)) :ruleset facts)
(rule ((= v (Got i a)) (= l (lev a m))) ((set (lev v m) l)) :ruleset facts)
(rule ((= v (Bin o a b)) (= l (lev a m)) (= k (lev b m))) ((set (lev v m) (max l k))) :ruleset facts)
(rule ((= v (Tri o c a b)) (= j (lev c m)) (= l (lev a m)) (= k (lev b m)))
      ((set (lev v m) (max j (max l k)))) :ruleset facts)
; a reduction by a loop of its own ends one level later, if it stands in no other loop
(rule ((= v (Red o x a)) (= l (lev a m)) (= d (lanes v)) (= 0 (& d m)) (!= 0 (& m (<< 1 x))))
      ((set (lev v m) (+ l 1))) :ruleset facts)
(rule ((= v (Red o x a)) (= l (lev a m)) (= d (lanes v)) (!= 0 (& d m))) ((set (lev v m) l)) :ruleset facts)
(rule ((= v (Red o x a)) (= l (lev a m)) (= 0 (& m (<< 1 x)))) ((set (lev v m) l)) :ruleset facts)
(rule ((= v (Scan o k a)) (= l (lev a m))) ((set (lev v m) l)) :ruleset facts)
(rule ((= v (Top x a)) (= l (lev a m)) (!= 0 (& m (<< 1 x)))) ((set (lev v m) (+ l 1))) :ruleset facts)
(rule ((= v (Weighed o x a b)) (= l (lev a m)) (= k (lev b m)) (!= 0 (& m (<< 1 x))))
      ((set (lev v m) (+ 1 (max l k)))) :ruleset facts)
"""

VALUES = """
; exact: rounding a widened value back.  A rule f(y) = y takes its left side away, else y would contain itself.
(rule ((= e (Un c (Un w y))) (casts c d) (casts w l) (dtype y d) (widens d l))
      ((union e y) (subsume (Un c (Un w y)))) :ruleset exact)
; by permission for algebra: c varies along fewer axes than what it divides, or not along the reduced one
(rule ((= e (Bin "div" x s)) (= d (lanes x)) (= f (lanes s)) (!= f d) (= f (& d f)))
      ((union e (Bin "mul" x (Un "rcp" s)))) :ruleset algebra)
(rule ((= e (Red "sum" k (Bin "mul" u c))) (= d (lanes c)) (= 0 (& d (<< 1 k))))
      ((union e (Bin "mul" (Red "sum" k u) c))) :ruleset algebra)
(rule ((= e (Red "sum" k (Bin "div" u c))) (= d (lanes c)) (= 0 (& d (<< 1 k))))
      ((union e (Bin "div" (Red "sum" k u) c))) :ruleset algebra)
(rule ((= e (Red o k (Bin "with" (Un s (Bin "mul" u c)) w))) (dot o) (casts s t) (= d (lanes c)) (= 0 (& d (<< 1 k))))
      ((union e (Bin "mul" (Red o k (Bin "with" (Un s u) w)) c))) :ruleset algebra)
(rule ((= e (Red o k (Bin "with" (Un s (Bin "div" u c)) w))) (dot o) (casts s t) (= d (lanes c)) (= 0 (& d (<< 1 k))))
      ((union e (Bin "div" (Red o k (Bin "with" (Un s u) w)) c))) :ruleset algebra)
(rule ((= e (Bin "mul" (Bin "mul" u c) w)) (= d (lanes c)) (= f (lanes w)) (!= 0 (& f (^ -1 d))))
      ((union e (Bin "mul" (Bin "mul" u w) c))) :ruleset algebra)
; by permission for normalization: a maximum and the sums that hang off it, in one traversal
(rule ((= e (Red "sum" k y)) (= y (Un "exp" (Bin "sub" x m))) (= m (Red "max" k x)))
      ((union e (Weighed "sum" k x x)) (union m (Top k x))) :ruleset online)
(rule ((= e (Red o k (Bin "with" y w))) (dot o) (= y (Un "exp" (Bin "sub" x m))) (= m (Red "max" k x)))
      ((union e (Weighed o k x w)) (union m (Top k x))) :ruleset online)
(rule ((= e (Red o k (Bin "with" (Un s y) w))) (dot o) (casts s t) (= y (Un "exp" (Bin "sub" x m)))
       (= m (Red "max" k x)))
      ((union e (Weighed (+ o (+ " " s)) k x w)) (union m (Top k x))) :ruleset online)
"""

PLACES = """
; what no iteration of an ordered loop decides is computed in front of it
(rule ((= e (At v p)) (outside p q t) (= d (lanes v)) (= 0 (& d t))) ((union e (At v q)) (subsume (At v p)))
      :ruleset outward)
(rule ((= e (At v p)) (= v (Leaf i)) (= d (lanes v)) (opens p o) (= d (& d o))) ((union e (XLeaf i p))) :ruleset place)
(rule ((= e (At v p)) (= v (Seen i)) (sees i p) (= d (lanes v)) (opens p o) (= d (& d o)))
      ((union e (XLeaf i p))) :ruleset place)
(rule ((= e (At v p)) (= v (Un o a)) (= d (lanes v))) ((union e (XUn o d p (At a p)))) :ruleset place)
(rule ((= e (At v p)) (= v (Got i a)) (gets i p) (= d (lanes v)))
      ((union e (XUn (+ "load " (to-string i)) d p (At a p)))) :ruleset place)
(rule ((= e (At v p)) (= v (Bin o a b)) (= d (lanes v))) ((union e (XBin o d p (At a p) (At b p)))) :ruleset place)
(rule ((= e (At v p)) (= v (Tri o c a b)) (= d (lanes v)))
      ((union e (XTri o d p (At c p) (At a p) (At b p)))) :ruleset place)
; a reduction: over an axis that the fragment holds, or by a loop that may come before the reader; inside of another
; loop only where it varies along that
(rule ((= e (At v p)) (= v (Red o k a)) (= d (lanes a)) (holds k p))
      ((union e (XHold o k d p (At a p)))) :ruleset place)
(rule ((= e (At v p)) (= v (Scan o k a)) (= d (lanes v)) (holds k p))
      ((union e (XScan o k d p (At a p)))) :ruleset place)
(rule ((= e (At v p)) (= v (Scan o k a)) (= d (lanes v)) (steps k p i) (= 0 (& d i)))
      ((union e (XScan o k d p (At a p)))) :ruleset place)
(rule ((= e (At v p)) (= v (Red o k a)) (= d (lanes a))
       (slot k q p) (around q r) (= r (& d r)) (turn q m t) (= l (lev v m)) (>= t l))
      ((union e (Get p (XFold o k d q (At a q) (Loop q))))) :ruleset place)
(rule ((= e (At v p)) (= v (Top k x)) (= d (lanes x))
       (slot k q p) (around q r) (= r (& d r)) (turn q m t) (= l (lev v m)) (>= t l))
      ((union e (Get p (XTop k d q (At x q) (Loop q))))) :ruleset place)
(rule ((= e (At v p)) (= v (Weighed "sum" k x z)) (= d (lanes x))
       (slot k q p) (around q r) (= r (& d r)) (turn q m t) (= l (lev v m)) (>= t l))
      ((union e (Get p (XWeighed "sum" d q (XTop k d q (At x q) (Loop q)) (Loop q))))) :ruleset place)
(rule ((= e (At v p)) (= v (Weighed o k x w)) (!= o "sum") (= d (lanes x)) (= f (lanes w))
       (slot k q p) (around q r) (= r (& r (| d f))) (turn q m t) (= l (lev v m)) (>= t l))
      ((union e (Get p (XWeighed o (| d f) q (XTop k d q (At x q) (Loop q)) (At w q))))) :ruleset place)
; kept: written by one loop, read behind it
(rule ((= e (At v p)) (cand v i) (= d (lanes v)) (keeps k q p) (!= 0 (& d (<< 1 k))) (turn q m t) (= l (lev v m))
       (> t l))
      ((union e (XRead i d p q (XWrite i d q (At v q) (Loop q))))) :ruleset place)
(rule ((= e (Eff i f)) (stores i v) (stored i f p) (turn p m t) (= l (lev v m)) (> t l))
      ((union e (XStore i p (At v p) (Loop p)))) :ruleset place)
"""

SCHEMA = SORTS + FACTS + VALUES + PLACES

ROUNDS = 3
"""How often the rules of values run, with the facts between."""
